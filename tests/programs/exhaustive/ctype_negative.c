// ctype functions on EOF and on negative characters that are promoted
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  int c = in[0] == 255 ? EOF : in[0];
  long r = 0;
  r |= !!isalpha(c) | !!isdigit(c) << 1 | !!ispunct(c) << 2 | !!iscntrl(c) << 3 | !!isblank(c) << 4 | !!isgraph(c) << 5;
  return r * 2 + (toupper(c) == c) + (tolower(c) == c) * 128;
}
