// goto backwards
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = in[0] & 7, n = 1;
  again: if (x) { n *= 2; x--; goto again; } return n;
}
