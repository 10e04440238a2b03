// swaps of pointers to the same element
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned char v[4] = {1, 2, 3, in[0]};
  unsigned char *a = &v[in[0] & 3], *b = &v[in[0] >> 2 & 3];
  *a ^= *b; *b ^= *a; *a ^= *b;
  return v[0] + v[1] * 4 + v[2] * 16 + v[3];
}
