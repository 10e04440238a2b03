// ctz, clz, popcount and bswap at the edges
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned x = in[0];
  unsigned long y = (unsigned long)in[0] << 50;
  int a = x ? __builtin_ctz(x) + __builtin_clz(x) : 1, b = y ? __builtin_ctzl(y) : 2;
  return a + b + __builtin_popcountl(y | x) * 8 + (__builtin_bswap32(x) >> 24) + __builtin_ffs((int)x) + __builtin_clrsb((int)(x << 24));
}
