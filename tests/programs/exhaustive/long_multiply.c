// multiplication of long integers
#include "exhaustive.h"

static long test(const unsigned char *in) {
  long x = (signed char)in[0];
  return x * x * 12345;
}
