// sine and relatives
#include "exhaustive.h"
#include <math.h>
static long test(const unsigned char *in) {
  double x = (signed char)in[0] / 2.0, s = sin(x), c = cos(x), t = atan2(x, 3.0);
  uint64_t u[3]; memcpy(u, &s, 8); memcpy(u + 1, &c, 8); memcpy(u + 2, &t, 8);
  return u[0] * 3 ^ u[1] * 5 ^ u[2];
}
