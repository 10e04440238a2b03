// 128-bit addition and shifts
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned __int128 x = (unsigned __int128)in[0] << 100 | in[0];
  x += x << 3;
  return (long)(x >> 98) ^ (long)x;
}
