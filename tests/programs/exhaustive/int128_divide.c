// 128-bit division
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned __int128 x = ((unsigned __int128)1 << 90) + in[0];
  return (long)(x / (in[0] | 1)) ^ (long)(x % 1000);
}
