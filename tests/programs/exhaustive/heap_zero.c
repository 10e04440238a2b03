// calloc and realloc
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int *p = calloc((in[0] & 3) + 1, sizeof *p);
  p[in[0] & 3] = 5;
  p = realloc(p, 8 * sizeof *p);
  int r = p[in[0] & 3] * 3 + p[0];
  free(p);
  return r;
}
