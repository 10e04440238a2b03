// malloc with one object for all sizes: accesses near its end, a fill, a string, realloc
#include "exhaustive.h"

static long test(const unsigned char *in) {
  if (in[0] >= 80)
    return 0;
  size_t n = in[0] + 1;
  unsigned char *p = malloc(n), *q = calloc(n, 1);
  memset(p, 3, n);
  p[n - 1] = in[0];
  q[n / 2] = p[n - 1];
  int r = q[n / 2] + p[n / 3] + (n > 7 ? p[7] + q[7] : 0);
  if (in[0] < 2) {
    p[n - 1] = 0;
    r += (int)strlen((char *)p + n - 1);
    p = realloc(p, 2 * n);
    r += p[n - 1] * 5;
  }
  free(p);
  free(q);
  return r;
}
