// statement expressions, ?: without a middle and typeof
#include "exhaustive.h"

static long test(const unsigned char *in) {
  __typeof__(in[0] + 1) x = ({ int y = in[0] & 7; y ?: 9; });
  return x * 3 + (in[0] >> 5 ?: 4);
}
