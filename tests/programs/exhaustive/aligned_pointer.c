// an address that is rounded up
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char *p = malloc(16);
  memset(p, 3, 16);
  uintptr_t u = (uintptr_t)(p + (in[0] & 7));
  u = (u + 7) & ~7ul;
  return *(char *)u + (u - (uintptr_t)p);
}
