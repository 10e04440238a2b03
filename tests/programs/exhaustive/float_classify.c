// fpclassify of every exponent
#include "exhaustive.h"
#include <math.h>

static long test(const unsigned char *in) {
  union { unsigned w; float f; } u = {.w = (unsigned)in[0] << 23};
  int c = fpclassify(u.f);
  return (c == FP_NAN) + (c == FP_INFINITE) * 2 + (c == FP_ZERO) * 3 + (c == FP_SUBNORMAL) * 4 + (c == FP_NORMAL) * 5 + (ilogb(u.f) & 31) * 8;
}
