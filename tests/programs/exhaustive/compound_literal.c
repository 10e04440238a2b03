// compound literals and designated initialisers
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int *p = (int[]){[2] = 5, [0] = in[0], 9};
  return p[0] + p[1] * 2 + p[2];
}
