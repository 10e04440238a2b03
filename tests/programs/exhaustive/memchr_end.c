// memchr with a length past the end, where the byte may come before
// BUG out-of-bounds-read
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned char *b = malloc(4);
  b[0]=1;
  b[1]=2;
  b[2]=in[0];
  b[3]=9;
  unsigned char *p = memchr(b, 7, in[0] & 7);
  return p ? p - b : -1;
}
