// words at a symbolic index
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int t[6] = {10, 20, 30, 40, 50, 60};
  t[in[0] % 6] = -1;
  return t[(in[0] >> 3) % 6];
}
