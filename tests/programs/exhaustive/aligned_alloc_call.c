// posix_memalign with symbolic alignment and size
#include "exhaustive.h"

static long test(const unsigned char *in) {
  void *p = 0;
  int r = posix_memalign(&p, 8u << (in[0] & 3), in[0]);
  return r + ((uintptr_t)p % (8u << (in[0] & 3)) == 0);
}
