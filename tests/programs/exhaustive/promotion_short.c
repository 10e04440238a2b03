// arithmetic of short integers
#include "exhaustive.h"

static long test(const unsigned char *in) {
  short s = (short)(in[0] * 257);
  s += s;
  return s ^ (unsigned short)s;
}
