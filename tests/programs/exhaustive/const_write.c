// a write to a constant on some paths
#include "exhaustive.h"

static const int table[3] = {1, 2, 3};

static long test(const unsigned char *in) {
  int x = 0;
  int *p = in[0] > 250 ? (int *)&table[in[0] % 3] : &x;
  *p = 9;
  return x;
}
