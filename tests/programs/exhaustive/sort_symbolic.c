// qsort of symbolic elements, compared through a function
#include "exhaustive.h"

static int order(const void *a, const void *b) { return *(const unsigned char *)a - *(const unsigned char *)b; }

static long test(const unsigned char *in) {
  unsigned char v[3] = {in[0], in[0] >> 4, 7};
  qsort(v, 3, 1, order);
  return v[0] <= v[1] && v[1] <= v[2] ? v[0] ^ v[1] * 2 ^ v[2] * 4 : -1;
}
