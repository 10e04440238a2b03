// strncpy pads and does not terminate; strlcpy terminates
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char a[8], b[8];
  memset(a, 'x', 8);
  memset(b, 'y', 8);
  char s[4] = {'p', (char)in[0], 'q', 0};
  strncpy(a, s, in[0] & 7);
  size_t n = strlcpy(b, s, in[0] & 7);
  long h = (long)n;
  for (int i = 0; i < 8; i++) h = h * 5 + (a[i] == 0) + (a[i] == 'x') * 2 + (b[i] == 0) + (b[i] == 'y') * 2;
  return h & 255;
}
