// bits of a float
#include "exhaustive.h"

static long test(const unsigned char *in) {
  union { float f; unsigned u; } u;
  u.f = 1.5f;
  return (long)(u.u >> (in[0] & 31));
}
