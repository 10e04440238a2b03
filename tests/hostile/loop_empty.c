// status: 3
#include "klee/klee.h"

int main(void) {
  for (;;) {
  }
}
