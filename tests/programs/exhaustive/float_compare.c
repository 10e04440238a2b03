// float against double
#include "exhaustive.h"

static long test(const unsigned char *in) {
  float f = in[0] / 10.0f;
  double d = in[0] / 10.0;
  return (f == d) + 2 * (f > d) + 4 * ((int)(f * 10) == in[0]) + 8 * (f != f);
}
