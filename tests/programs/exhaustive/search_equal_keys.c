// bsearch among keys that compare equal, with a symbolic count
#include "exhaustive.h"

static int order(const void *key, const void *at) {
  return *(const unsigned char *)key / 16 - *(const unsigned char *)at / 16;
}

static long test(const unsigned char *in) {
  unsigned char a[7] = {1, 2, 3, 16, 17, 18, 40};
  unsigned char *found = bsearch(in, a, in[0] & 7, 1, order);
  return found ? found - a : 99;
}
