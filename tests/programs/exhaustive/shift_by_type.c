// shifts of promoted types and of 64 bits by symbolic counts
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned n = in[0] & 31;
  signed char c = (signed char)in[0];
  return (c >> (n & 7)) + (int)(0x8000000000000000ul >> (n + 32)) + ((unsigned short)0xffff << (n & 15) & 0xff);
}
