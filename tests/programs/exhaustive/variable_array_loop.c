// variable-length arrays in a loop
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int s = 0;
  for (int i = 1; i < 4; i++) { char v[i + (in[0] & 1)]; memset(v, i, sizeof v); s += v[sizeof v - 1] + (int)sizeof v; } return s + in[0];
}
