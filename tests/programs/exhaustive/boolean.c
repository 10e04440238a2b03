// _Bool
#include "exhaustive.h"

static long test(const unsigned char *in) {
  _Bool b = in[0] & 0xf0;
  b += in[0] & 1;
  return b * 3 + !b;
}
