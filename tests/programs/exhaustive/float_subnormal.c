// subnormal numbers
#include "exhaustive.h"
#include <math.h>
static long test(const unsigned char *in) {
  float tiny = 1e-38f * (in[0] & 15), s = tiny / (float)((in[0] >> 4) * 1000 + 1); double d = s; float back = (float)(d * d * 1e40);
  uint32_t a, b; memcpy(&a, &s, 4); memcpy(&b, &back, 4);
  return a ^ b * 3ul ^ fpclassify(s) ^ (isnormal(back) << 3) ^ (long)(d * 1e45);
}
