// products, remainders and signed quotients of 128 bits
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned __int128 x = ((unsigned __int128)0x123456789abcdefUL << 64) + in[0];
  unsigned __int128 y = x * (in[0] + 3) % 1000003;
  __int128 z = -(__int128)x / (in[0] - 7);
  return (long)y ^ (long)z ^ (long)(z >> 64);
}
