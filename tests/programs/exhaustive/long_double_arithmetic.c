// long double: arithmetic, conversions and comparison, a path per value
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = 0;
  while (n < (in[0] & 31)) n++;
  long double x = n;
  x = x / 3 + 0.25L;
  long double y = x * x - 1;
  return (long)(y * 16) + (x > 5.5L) + (y == y) * 2;
}
