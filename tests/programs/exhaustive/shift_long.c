// shifts of 64 bits
#include "exhaustive.h"

static long test(const unsigned char *in) {
  uint64_t x = in[0] * 0x0123456789abcdefULL;
  return (long)(x >> (in[0] & 63) ^ x << (in[0] >> 2));
}
