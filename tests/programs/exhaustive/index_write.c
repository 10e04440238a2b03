// writes at a symbolic index
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned char t[8] = {0};
  t[in[0] & 7] = in[0];
  t[in[0] >> 5] += 1;
  int n = 0;
  for (int i = 0; i < 8; i++) n = n * 3 + t[i];
  return n;
}
