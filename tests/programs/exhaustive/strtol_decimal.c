// strtol
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[4] = {'1', (char)in[0], '7', 0}, *end;
  long v = strtol(s, &end, 10);
  return v * 4 + (end - s);
}
