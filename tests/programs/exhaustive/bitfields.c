// bit-fields, signed and unsigned
#include "exhaustive.h"

static long test(const unsigned char *in) {
  struct { int a : 3; unsigned b : 5; signed c : 4; } s = {0};
  s.a = in[0];
  s.b = in[0] >> 1;
  s.c = in[0] >> 3;
  return s.a * 100 + s.b * 3 + s.c;
}
