// bit-fields of several types: assignment, increment, shift
#include "exhaustive.h"

struct s { int a : 3; unsigned b : 5; long c : 40; _Bool d : 1; int e : 8; };

static long test(const unsigned char *in) {
  struct s x = {0};
  x.a = in[0];
  x.b = in[0];
  x.c = (long)in[0] << 33;
  x.d = in[0] & 6;
  x.e = in[0];
  x.a++;
  x.b--;
  x.e >>= 1;
  return x.a + x.b * 3 + (x.c >> 33) + x.d * 7 + x.e;
}
