// enumerations
#include "exhaustive.h"

static long test(const unsigned char *in) {
  enum e { A = -2, B, C = 40, D } e = (enum e)((in[0] & 63) - 2);
  return e == A ? 1 : e == B ? 2 : e >= C ? 3 : 4;
}
