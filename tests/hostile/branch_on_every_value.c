// status: 0 3
#include "klee/klee.h"

int main(void) {
  unsigned x, n = 0;
  klee_make_symbolic(&x, sizeof x, "x");
  while (n < x)
    n++;
  return n & 1;
}
