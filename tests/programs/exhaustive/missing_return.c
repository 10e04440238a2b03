// a function without a return value, whose result is not used
#include "exhaustive.h"

static int f(int x) { if (x & 1) return 7; }

static long test(const unsigned char *in) {
  int r = f(in[0]);
  return in[0] & 1 ? r : 3;
}
