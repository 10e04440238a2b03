// free and allocation of the same size, realloc to nothing and from nothing
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char *p = malloc(in[0] % 5 + 1);
  if (!p) return 1;
  p[0] = (char)in[0];
  p = realloc(p, in[0] % 7 + 1);
  if (!p) return 2;
  char c = p[0];
  p = realloc(p, 20);
  p[19] = 1;
  c += p[0] + p[19];
  free(p);
  return c;
}
