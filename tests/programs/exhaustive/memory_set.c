// memset with symbolic byte and length
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned char a[6] = {9, 9, 9, 9, 9, 9};
  memset(a + 1, in[0], in[0] % 5);
  return a[1] + a[2] * 2 + a[5];
}
