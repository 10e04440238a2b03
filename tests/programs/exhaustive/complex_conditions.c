// conditions with many terms
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = in[0];
  return (x > 10 && x < 20 || x > 30 && !(x & 1) && x != 100) + 2 * (x % 3 == 0);
}
