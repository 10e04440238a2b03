// status: 0 3
#include "klee/klee.h"

int main(void) {
  unsigned x, n = 0;
  klee_make_symbolic(&x, sizeof x, "x");
  while (x != 1 && n++ < 1000)
    x = x & 1 ? 3 * x + 1 : x / 2;
  return n > 500;
}
