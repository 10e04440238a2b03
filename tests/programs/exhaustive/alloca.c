// alloca
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char *p = __builtin_alloca((in[0] & 3) + 1);
  p[in[0] & 3] = 7;
  return p[in[0] & 3] + in[0];
}
