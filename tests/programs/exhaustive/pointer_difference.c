// differences and comparisons of pointers
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int a[10];
  int *x = a + in[0] % 10, *y = a + in[0] / 30;
  return (x - y) * 4 + (x < y);
}
