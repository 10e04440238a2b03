// realloc of null, a second free
// BUG double-free
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned char *b = in[0] & 1 ? 0 : malloc(2);
  b = realloc(b, 3);
  b[2] = in[0];
  free(b);
  if (in[0] == 77) free(b);
  return 5;
}
