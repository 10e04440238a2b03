// printf's flags, widths and precisions from arguments
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char to[64];
  int w = (in[0] & 7) - 3;
  int n = sprintf(to, "%*d|%-5.3x|%+d|% d|%#o", w, in[0] >> 4, in[0], in[0] - 128, -in[0], in[0]);
  long h = n;
  for (int i = 0; i < n; i++) h = h * 31 + to[i];
  return h & 255;
}
