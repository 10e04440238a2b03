// status: 1
#include "klee/klee.h"

int main(void) {
  for (;;) {
    char *p = __builtin_alloca(1000);
    p[5] = 1;
  }
}
