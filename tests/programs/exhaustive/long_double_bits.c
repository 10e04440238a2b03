// the bytes of a long double, a path per value
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = -9;
  while (n < (in[0] & 31) - 9) n++;
  union { long double x; unsigned char b[16]; } u;
  memset(&u, 0, sizeof u);
  u.x = n;
  return u.b[7] + u.b[8] * 3 + u.b[9];
}
