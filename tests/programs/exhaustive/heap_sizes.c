// malloc with a symbolic size
#include "exhaustive.h"

static long test(const unsigned char *in) {
  size_t n = (in[0] & 15) + 1;
  char *p = malloc(n);
  memset(p, 3, n);
  int r = p[n - 1] + (int)n;
  free(p);
  return r;
}
