// qsort of two symbolic words
#define BYTES 2
#include "exhaustive.h"

static int order(const void *a, const void *b) { return *(const short *)a - *(const short *)b; }

static long test(const unsigned char *in) {
  short v[3] = {(short)(in[0] - 128), (short)(in[1] - 128), 5};
  qsort(v, 3, sizeof *v, order);
  return (v[0] <= v[1] && v[1] <= v[2]) + (v[1] == 5) * 2 + (v[0] == v[2]) * 4;
}
