// sizeof of a variable-length array keeps the size of its definition
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = in[0] & 3;
  int a[n + 1][n + 2];
  a[n][n + 1] = 5;
  int last = n++;
  return sizeof a + a[last][last + 1];
}
