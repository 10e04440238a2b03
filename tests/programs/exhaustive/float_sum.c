// sums that are not exact
#include "exhaustive.h"

static long test(const unsigned char *in) {
  float sum = 0;
  for (int i = 0; i < 3; i++) sum += (float)(in[0] & 7) / 10;
  return sum > 1 ? 1 : sum == 0.9f ? 2 : sum < 0.5f ? 3 : 0;
}
