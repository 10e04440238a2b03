// bsearch
#include "exhaustive.h"

static int order(const void *a, const void *b) { return *(const unsigned char *)a - *(const unsigned char *)b; }

static long test(const unsigned char *in) {
  static const unsigned char v[5] = {1, 5, 9, 100, 200};
  unsigned char *f = bsearch(in, v, 5, 1, order);
  return f ? f - v : 9;
}
