// left shifts
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned x = in[0];
  return (long)(x << (x & 7)) + (long)(1u << (x & 31));
}
