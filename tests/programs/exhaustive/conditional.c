// conditional expressions
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = in[0];
  return x > 100 ? x > 200 ? 3 : x : x < 10 ? -x : 7;
}
