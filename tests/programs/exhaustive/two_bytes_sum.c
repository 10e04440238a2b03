// a sum of two inputs
#define BYTES 2
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = in[0] + in[1];
  return x > 300 ? x - 300 : x / 4;
}
