// free of the middle of an object
// BUG invalid-free
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char *p = malloc(4);
  free(p + (in[0] == 9));
  return 2;
}
