// objects as bytes
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned x = in[0] * 0x01020304u;
  unsigned char *b = (unsigned char *)&x;
  return b[0] + b[3] * 2 - b[1];
}
