// a pointer to one of several objects
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int a = 1, b = 2, c = 3;
  int *p = in[0] & 1 ? &a : in[0] & 2 ? &b : &c;
  *p += in[0];
  return a + 2 * b + 4 * c;
}
