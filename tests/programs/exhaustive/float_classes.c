// isnan, signbit, fmin, copysign and rounding of computed values
#include "exhaustive.h"
#include <math.h>

static long test(const unsigned char *in) {
  double x = ((signed char)in[0]) / 8.0, y = x == 0 ? -0.0 : 1 / x;
  return (isnan(y / y - 1) ? 1 : 0) + (signbit(y) ? 2 : 0) + (long)fmin(x, 3.5) * 4 + lrint(x) + (long)copysign(2, y) + (long)trunc(x * 1.5);
}
