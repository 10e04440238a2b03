// assert
#include "exhaustive.h"

static long test(const unsigned char *in) {
  assert(in[0] != 33);
  return in[0] / 2;
}
