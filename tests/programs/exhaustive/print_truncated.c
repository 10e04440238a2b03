// snprintf into less room than it needs
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char to[4] = "zzz";
  int size = in[0] & 3;
  int n = snprintf(to, size, "%d,%c", in[0], 'x');
  return n * 16 + to[0] + to[1] * 3 + to[2] * 5 + to[3] * 7;
}
