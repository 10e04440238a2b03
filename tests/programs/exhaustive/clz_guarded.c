// counts of zeros behind a check for 0
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned x = in[0];
  return (x ? __builtin_clz(x) : 32) + (x ? __builtin_ctzll((unsigned long long)x << 40) : 64) * 3;
}
