// assignment of structures
#include "exhaustive.h"

static long test(const unsigned char *in) {
  struct s { int a; char b[5]; } x = {in[0], {1, 2, 3, 4, 5}}, y;
  y = x;
  x.b[in[0] % 5] = 9;
  return y.b[in[0] % 5] * 16 + x.a;
}
