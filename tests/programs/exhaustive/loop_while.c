// while loops
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = 0, x = in[0];
  while (x) { x &= x - 1; n++; } return n;
}
