// square root
#include "exhaustive.h"

static long test(const unsigned char *in) {
  double x = __builtin_sqrt(in[0]);
  if (x * x == in[0]) return 1;
  return x < 4 ? 2 : (int)x;
}
