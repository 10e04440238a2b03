// a comparison that ends the program
#include "exhaustive.h"

static int calls;
static int order(const void *a, const void *b) {
  if (++calls == 4) exit(44);
  return *(const unsigned char *)a - *(const unsigned char *)b;
}

static long test(const unsigned char *in) {
  unsigned char a[3] = {33, in[0], 35};
  qsort(a, 3, 1, order);
  return calls;
}
