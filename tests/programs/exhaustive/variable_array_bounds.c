// an index past a variable-length array
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = (in[0] & 7) + 1;
  char *v = malloc(n);
  if (!v) return 1;
  memset(v, 3, n);
  if ((in[0] >> 3 & 15) >= n) abort();
  return v[in[0] >> 3 & 15];
}
