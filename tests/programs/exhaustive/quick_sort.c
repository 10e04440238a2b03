// qsort
#include "exhaustive.h"

static int order(const void *a, const void *b) { return *(const unsigned char *)a - *(const unsigned char *)b; }

static long test(const unsigned char *in) {
  unsigned char v[3] = {in[0], 100, 50};
  qsort(v, 3, 1, order);
  return v[0] + 2 * v[1] + 4 * v[2];
}
