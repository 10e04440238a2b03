// an index past an array of calloc
// BUG out-of-bounds-read
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int *p = calloc(in[0] & 7, 4);
  return p[in[0] >> 4 & 7] + 3;
}
