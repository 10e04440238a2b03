// for loops with break and continue
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = 0;
  for (int i = 0; i < 8; i++) { if (!(in[0] >> i & 1)) continue; n += i; if (n > 10) break; } return n;
}
