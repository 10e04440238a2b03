// abs
#include "exhaustive.h"

static long test(const unsigned char *in) {
  return abs((signed char)in[0]) * 2 + (labs((signed char)in[0]) > 9);
}
