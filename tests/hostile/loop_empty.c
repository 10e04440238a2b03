// status: 3
// args: --check no-non-termination
#include "klee/klee.h"

int main(void) {
  for (;;) {
  }
}
