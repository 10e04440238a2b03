/* The smaller root of x*x - b*x + c by the textbook formula. If c is small, `b - sqrtf(...)` cancels, and the root that the
   program prints is 0 although 0 is no root. `partita run examples/quadratic.c` finds a and b for which it happens. */
#include "klee/klee.h"
#include <assert.h>
#include <math.h>

static float smaller_root(float b, float c) {
  float discriminant = b * b - 4 * c;
  if (discriminant < 0) return NAN;
  return (b - sqrtf(discriminant)) / 2; /* 2 * c / (b + sqrtf(discriminant)) does not cancel */
}

int main(void) {
  float b, c;
  klee_make_symbolic(&b, sizeof b, "b");
  klee_make_symbolic(&c, sizeof c, "c");
  klee_assume(b >= 1 & b <= 1000 & c > 0 & c < 1);
  float root = smaller_root(b, c);
  if (isnan(root)) return 1;
  assert(root > 0);
  return 0;
}
