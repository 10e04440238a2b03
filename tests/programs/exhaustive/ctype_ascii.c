// isascii, toascii and digits of other bases
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int c = in[0] * 2 - 256;
  return toascii(c) + (isascii(c) ? 128 : 0) + (isxdigit(c & 127) ? 3 : 0);
}
