// 128-bit multiplication
#include "exhaustive.h"

static long test(const unsigned char *in) {
  __int128 x = (signed char)in[0];
  x *= (__int128)1 << 70;
  return (long)(x >> 66);
}
