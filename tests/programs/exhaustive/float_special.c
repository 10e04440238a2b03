// infinity and what is no number
#include "exhaustive.h"

static long test(const unsigned char *in) {
  float x = (in[0] & 15) / (float)(in[0] >> 4);
  if (x != x) return 1;
  if (x > 1e30f) return 2;
  return -x == 0 ? 3 : x == 1 ? 4 : 5;
}
