// neighbours of a number
#include "exhaustive.h"
#include <math.h>
static long test(const unsigned char *in) {
  union { uint32_t u; float f; } a = {(uint32_t)in[0] << 24 | ((in[0] & 1) ? 0 : 0x7fffff)}, up, down;
  up.f = nextafterf(a.f, INFINITY); down.f = nextafterf(a.f, -1.0f);
  union { uint64_t u; double f; } t; t.f = nexttoward(a.f, 0.0L);
  return up.u ^ (uint64_t)down.u * 31 ^ t.u * 7;
}
