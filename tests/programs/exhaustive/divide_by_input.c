// division by an input
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = in[0] - 3;
  return 100 / x;
}
