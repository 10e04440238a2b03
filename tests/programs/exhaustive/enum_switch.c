// an enumeration with negative values
#include "exhaustive.h"

enum e { A = -2, B, C = 5, D = 250 };

static long test(const unsigned char *in) {
  enum e x = in[0];
  if (in[0] & 128) x = (enum e)(signed char)in[0];
  switch (x) {
    case A: return 1;
    case B: return 2;
    case C: return 3;
    case D: return 4;
    default: return 5;
  }
}
