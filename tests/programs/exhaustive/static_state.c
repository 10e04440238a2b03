// static variables
#include "exhaustive.h"

static int count(void) { static int n = 5; return n++; }

static long test(const unsigned char *in) {
  int r = 0;
  for (int i = 0; i < (in[0] & 3); i++) r += count();
  return r;
}
