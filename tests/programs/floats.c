// floats: concrete float and double arithmetic, conversions, comparisons and classes
// EXPECT: paths=1 bug=none
#include "klee/klee.h"

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  double zero = 0.0, x = 0.1 + 0.2, nan = zero / zero, inf = 1 / zero;
  klee_assert(x != 0.3 && (float)x == 0.3f);
  klee_assert(__builtin_isnan(nan) && !(nan == nan) && __builtin_isinf(inf) && -inf < inf);
  klee_assert((int)-2.75 == -2 && (unsigned char)200.9 == 200 && (long)1e15f == 999999986991104);
  klee_assert((float)16777217 == 16777216.0f && (double)~0ull == 18446744073709551616.0);
  klee_assert(__builtin_fabs(-0.5) == 0.5 && __builtin_copysign(3.0, -1.0) == -3.0);
  return n == 7 ? 1 : 0;
}
