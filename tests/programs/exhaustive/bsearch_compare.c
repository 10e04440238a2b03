// bsearch with a symbolic key and length
#include "exhaustive.h"

static int cmp(const void *a, const void *b) {
  return *(const short *)a - *(const short *)b;
}

static long test(const unsigned char *in) {
  static const short t[6] = {3, 9, 27, 81, 200, 243};
  short k = in[0];
  const short *p = bsearch(&k, t, in[0] & 1 ? 6 : 3, 2, cmp);
  return p ? p - t : 50;
}
