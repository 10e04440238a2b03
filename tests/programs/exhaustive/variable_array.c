// variable-length arrays
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = (in[0] & 7) + 1;
  int v[n];
  for (int i = 0; i < n; i++) v[i] = i * i;
  return v[n - 1] + (int)sizeof v;
}
