// memchr
#include "exhaustive.h"

static long test(const unsigned char *in) {
  static const char s[5] = {1, 2, 3, 2, 1};
  const char *f = memchr(s, in[0], 5);
  return f ? f - s : 7;
}
