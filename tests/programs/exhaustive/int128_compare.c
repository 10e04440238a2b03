// 128-bit comparison
#include "exhaustive.h"

static long test(const unsigned char *in) {
  __int128 x = ((__int128)(signed char)in[0]) << 64;
  return (x < 0) + 2 * (x > ((__int128)5 << 64));
}
