// bit counting builtins
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned x = in[0] | 256u;
  return __builtin_popcount(x) + 16 * __builtin_ctz(x) + __builtin_clz(x);
}
