// a variable-length array of two dimensions and sizeof with an effect
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = (in[0] & 3) + 1, m = (in[0] >> 2 & 3) + 1;
  int v[n][m];
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) v[i][j] = i * 10 + j;
  int k = 0;
  size_t s = sizeof(int[(k++, n)]);
  return v[n - 1][m - 1] + (long)s + k + (long)sizeof v[0];
}
