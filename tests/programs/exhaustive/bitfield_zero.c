// a bit-field of width zero, and bytes of a union with bit-fields
#include "exhaustive.h"

struct s { unsigned char a : 4, : 0, b : 3; unsigned short c : 9; };
union u { struct s s; unsigned char b[8]; };

static long test(const unsigned char *in) {
  union u x;
  memset(&x, 0, sizeof x);
  x.s.a = in[0];
  x.s.b = in[0] >> 2;
  x.s.c = in[0] * 3;
  return x.b[0] + x.b[1] * 3 + x.b[2] * 5 + x.b[3] + sizeof x.s;
}
