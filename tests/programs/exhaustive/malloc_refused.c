// malloc and calloc of sizes that no machine has, and errno
#include "exhaustive.h"
#include <errno.h>

static long test(const unsigned char *in) {
  errno = 0;
  char *p = malloc((size_t)in[0] << 56);
  char *q = calloc((size_t)1 << (in[0] & 63), (size_t)1 << 40);
  return (p == 0) + 2 * (q == 0) + errno * 4;
}
