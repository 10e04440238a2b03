// conversion to integers
#include "exhaustive.h"

static long test(const unsigned char *in) {
  float x = ((signed char)in[0]) * 1.75f;
  return (int)x + (unsigned char)(x * x / 256);
}
