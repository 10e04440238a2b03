// unsigned overflow builtins
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned char r;
  _Bool o = __builtin_mul_overflow(in[0], (unsigned char)3, &r);
  return o * 128 + (r & 127);
}
