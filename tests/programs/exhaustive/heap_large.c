// malloc that fails
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char *p = malloc(in[0] == 7 ? (size_t)1 << 62 : 4);
  if (!p) return 1;
  p[0] = (char)in[0];
  int r = p[0];
  free(p);
  return r;
}
