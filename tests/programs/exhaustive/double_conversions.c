// between formats
#include "exhaustive.h"

static long test(const unsigned char *in) {
  double x = in[0] / 3.0;
  float y = (float)x;
  return (x == y) + 2 * (y > x) + 4 * ((long)(x * 1e6) % 7 == 0);
}
