// do loops
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = in[0], n = 0;
  do { x = x % 2 ? 3 * x + 1 : x / 2; n++; } while (x > 1 && n < 12);
  return n;
}
