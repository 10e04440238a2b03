// a use of the address before realloc
// BUG use-after-free
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned char *b = malloc(4);
  b[0] = in[0];
  unsigned char *c = b;
  if (in[0] & 1) b = realloc(b, 100);
  return c[0] + 1;
}
