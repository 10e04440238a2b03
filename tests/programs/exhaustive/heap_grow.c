// calloc, realloc
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned char *p = calloc(2, 1);
  p[in[0] & 1] = in[0];
  p = realloc(p, 4);
  p[3] = 9;
  long result = p[0] + p[1] * 2 + p[3];
  free(p);
  return result;
}
