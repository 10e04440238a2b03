// status: 0 1 3
#include "klee/klee.h"

int main(void) {
  float x, y;
  klee_make_symbolic(&x, sizeof x, "x");
  klee_make_symbolic(&y, sizeof y, "y");
  if (x * y + x / y == 3.25f && x > y)
    return 1;
  return 0;
}
