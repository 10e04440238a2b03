// unsigned division
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned x = in[0];
  return (long)(1000 / (x | 1) + x % 9);
}
