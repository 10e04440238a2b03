// strcat past the end of its buffer
// BUG out-of-bounds-write
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char b[6] = "ab";
  char s[8] = "cdefgh";
  s[in[0] & 7] = 0;
  strcat(b, s);
  return strlen(b) * 3 + b[in[0] % 3];
}
