// qsort with a comparison that orders nothing
#include "exhaustive.h"

static int order(const void *a, const void *b) { return *(const unsigned char *)a & 1 ? 1 : -1; }

static long test(const unsigned char *in) {
  unsigned char a[5] = {in[0], 4, 7, 2, 9};
  qsort(a, in[0] % 6, 1, order);
  return a[0] * 3 ^ a[1] * 5 ^ a[2] * 7 ^ a[3] * 11;
}
