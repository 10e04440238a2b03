// unsigned arithmetic wraps
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned u = in[0];
  return (long)(u - 100u) + (long)(u * 0x01010101u);
}
