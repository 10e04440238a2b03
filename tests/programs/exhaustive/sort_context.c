// qsort_r with a counter that the comparison changes
#define _GNU_SOURCE
#include "exhaustive.h"

static int order(const void *a, const void *b, void *count) {
  ++*(int *)count;
  return *(const unsigned char *)a - *(const unsigned char *)b;
}

static long test(const unsigned char *in) {
  int calls = 0;
  unsigned char a[4] = {33, in[0], 35, 2};
  qsort_r(a, 4, 1, order, &calls);
  return a[1] + calls;
}
