// a double free on some paths
// BUG double-free
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char *p = malloc(3), *q = in[0] & 1 ? p : malloc(3);
  free(p);
  if (in[0] < 128) free(q);
  return 1;
}
