// pointers to pointers
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int a = 5, b = 6, *p = &a, **q = &p;
  if (in[0] & 1) *q = &b;
  **q += in[0];
  return a * 256 + b;
}
