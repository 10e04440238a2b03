// bit fields of enumerations, of one bit, of bool and of 40 bits
#include "exhaustive.h"

enum word { A, B = 200 };
struct fields {
  enum word word : 4;
  signed sign : 1;
  _Bool truth : 1;
  unsigned long long wide : 40;
};

static long test(const unsigned char *in) {
  struct fields f = {0};
  f.word = in[0];
  f.sign = in[0];
  f.truth = in[0] & 6;
  f.wide = (long long)(signed char)in[0];
  return f.word + (f.sign < 0) * 16 + f.truth * 32 + (f.wide >> 39) * 64;
}
