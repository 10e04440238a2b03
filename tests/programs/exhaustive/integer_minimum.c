// abs, division and remainder at the least values
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = INT_MIN + in[0];
  long r = (x % 7) + (x / -9) + labs((long)x) % 11 + llabs(x) % 13;
  return r & 255;
}
