// && and || evaluate in order
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = 0;
  if ((in[0] & 1) && ++n && (in[0] & 2) || (n += 2, in[0] & 4)) n += 4;
  return n;
}
