// strncpy with a symbolic length, past the end of a source without a zero
// BUG out-of-bounds-read
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char *b = calloc(1, 4);
  char s[3] = {'a', (char)(in[0] & 3 ? 'b' : 0), 'c'};
  strncpy(b, s, in[0] & 7);
  return b[0];
}
