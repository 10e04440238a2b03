// calloc with a symbolic count, and an index inside of it
#include "exhaustive.h"

static long test(const unsigned char *in) {
  size_t n = (in[0] & 7) + 1;
  int *v = calloc(n, sizeof *v);
  if (!v) return 1;
  v[(in[0] >> 3) % n] = in[0];
  long sum = 0;
  for (size_t i = 0; i < n; i++) sum = sum * 2 + v[i];
  free(v);
  return sum;
}
