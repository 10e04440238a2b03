// an index and a value
#define BYTES 2
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned char t[4] = {0};
  t[in[0] & 3] = in[1];
  return t[2] > 100 ? 1 : t[0] == 7 ? 2 : 3;
}
