// integer promotion of characters
#include "exhaustive.h"

static long test(const unsigned char *in) {
  signed char c = (signed char)in[0];
  return c + (unsigned char)c;
}
