// isnan, isinf, isfinite, signbit, isgreater and relatives
#include "exhaustive.h"
#include <math.h>
static long test(const unsigned char *in) {
  uint16_t t = in[0] << 8 | 0x80; uint64_t u = (uint64_t)t << 48 | (in[0] & 1); double x; memcpy(&x, &u, 8);
  long r = (isnan(x) != 0) | (isinf(x) != 0) << 1 | (isfinite(x) != 0) << 2 | (signbit(x) != 0) << 3 | (isnormal(x) != 0) << 4;
  return r | (isgreater(x, 1.0) != 0) << 5 | (islessgreater(x, x) != 0) << 6 | (isunordered(x, 1.0) != 0) << 7 | (x >= 0) << 8 | !(x < 0) << 9 | fpclassify(x) << 10;
}
