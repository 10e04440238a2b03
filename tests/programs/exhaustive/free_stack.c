// free of a local variable
// BUG invalid-free
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char a[4], *p = in[0] == 255 ? a : malloc(4);
  free(p);
  return 2;
}
