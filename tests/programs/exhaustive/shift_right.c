// arithmetic and logical right shifts
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = (signed char)in[0] * 1000;
  unsigned u = (unsigned)x;
  return (x >> (in[0] & 15)) ^ (long)(u >> (in[0] & 15));
}
