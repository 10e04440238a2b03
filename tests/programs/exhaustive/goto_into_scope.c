// goto into a loop and a block
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = 0;
  goto mid;
  {
    int x;
    for (n = 0; n < 3; n++) {
    mid:
      x = in[0] + n;
      n += x & 1;
    }
  }
  return n;
}
