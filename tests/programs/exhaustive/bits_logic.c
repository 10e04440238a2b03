// and, or, exclusive or, complement
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned x = in[0];
  return (long)((x & 0x5a) | (~x ^ 0x33));
}
