// the remainder of the smallest integer, by a divisor that may be 0 or -1
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = in[0] == 1 ? INT_MIN : in[0], y = (signed char)in[0] - 2;
  return y == -1 ? 7 : x % y;
}
