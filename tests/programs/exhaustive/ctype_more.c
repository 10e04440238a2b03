// further classes of characters
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int c = in[0];
  return !!isalnum(c) + 2 * !!isprint(c) + 4 * !!isgraph(c) + 8 * !!islower(c) + 16 * !!isblank(c);
}
