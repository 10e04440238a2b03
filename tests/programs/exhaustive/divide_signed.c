// signed division truncates
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = (signed char)in[0];
  return x / 7 * 16 + (x % 7 & 15);
}
