// status: 0 3
#include "klee/klee.h"

int main(void) {
  unsigned x, y;
  klee_make_symbolic(&x, sizeof x, "x");
  y = x;
  for (int i = 0; i < 2000; i++) {
    y = y * y + (y ^ x << i % 7);
    if (y == 77)
      return 1;
  }
  return y == 5;
}
