// snprintf with symbolic width and precision, %n
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char b[64];
  int n = 0;
  long long wide = (long long)in[0] << 33;
  int r = snprintf(b, sizeof b, "%*d%n|%-*.*s|%lld|%hhd", in[0] & 7, 42, &n, 6, in[0] >> 6, "abc", wide, in[0]);
  return r * 3 + n + b[r - 1];
}
