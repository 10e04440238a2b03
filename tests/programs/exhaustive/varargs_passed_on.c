// vsnprintf with a list that was copied and half used
#include "exhaustive.h"
#include <stdio.h>

static long format(const char *f, ...) {
  char a[32], b[32];
  va_list l, copy;
  va_start(l, f);
  va_copy(copy, l);
  int first = va_arg(l, int);
  int n = vsnprintf(a, sizeof a, f, copy), m = vsnprintf(b, sizeof b, "%c/%s", l);
  va_end(copy);
  va_end(l);
  return n * 64 + m * 8 + first + a[n - 1] + b[0];
}

static long test(const unsigned char *in) {
  return format("%d-%c-%s", in[0], 'a' + in[0] % 3, in[0] & 1 ? "odd" : "even");
}
