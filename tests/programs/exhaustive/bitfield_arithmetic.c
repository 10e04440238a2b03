// bit fields that are incremented, with a zero-width field between
#include "exhaustive.h"

struct fields {
  signed a : 3;
  unsigned b : 5;
  int : 0;
  long long c : 33;
  unsigned char d : 1;
};

static long test(const unsigned char *in) {
  struct fields f = {0};
  f.a = in[0];
  f.b = in[0];
  f.c = (long long)in[0] << 26;
  f.d += in[0];
  f.a++;
  f.b--;
  f.c += f.a;
  return f.a * 3 + f.b + (f.c >> 25) + f.d;
}
