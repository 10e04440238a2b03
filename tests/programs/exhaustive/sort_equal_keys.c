// qsort of keys that compare equal: the order of the others shows
#include "exhaustive.h"

static int order(const void *a, const void *b) {
  return *(const unsigned char *)a / 16 - *(const unsigned char *)b / 16;
}

static long test(const unsigned char *in) {
  unsigned char a[6] = {33, in[0], 35, 0, 34, 20};
  qsort(a, 6, 1, order);
  return a[0] ^ a[1] * 3 ^ a[2] * 5 ^ a[3] * 7 ^ a[4] * 11;
}
