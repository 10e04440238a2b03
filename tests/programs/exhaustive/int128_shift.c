// shifts of 128 bits by symbolic amounts
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned __int128 x = (unsigned __int128)in[0] << 100 | in[0];
  __int128 y = (__int128)x << 20;
  y >>= (in[0] & 127);
  return (long)y ^ (long)(y >> 64);
}
