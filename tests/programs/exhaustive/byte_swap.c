// byte swaps
#include "exhaustive.h"

static long test(const unsigned char *in) {
  return (long)(__builtin_bswap32(in[0] * 0x010203u) ^ __builtin_bswap16(in[0]));
}
