// rotation by hand
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned x = in[0] | 0xabcd00u;
  unsigned n = in[0] & 31;
  return (long)(x << n | x >> (-n & 31));
}
