// a variable-length array whose scope goto enters again
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = 0, size = (in[0] & 3) + 1;
again:;
  int a[size];
  a[n % size] = n;
  if (++n < (in[0] >> 5)) goto again;
  return a[(n - 1) % size];
}
