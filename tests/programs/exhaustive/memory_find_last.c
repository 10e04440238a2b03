// memrchr and memchr with a symbolic byte and a symbolic length
#define _GNU_SOURCE
#include "exhaustive.h"

static long test(const unsigned char *in) {
  const char text[8] = "abcabca";
  size_t n = in[0] & 7;
  int c = 'a' + (in[0] >> 3 & 3);
  char *first = memchr(text, c, n), *last = memrchr(text, c, n);
  return (first ? first - text : 9) * 10 + (last ? last - text : 9);
}
