// checked arithmetic of mixed types
#include "exhaustive.h"

static long test(const unsigned char *in) {
  signed char c;
  unsigned short s;
  long l;
  int a = __builtin_add_overflow((signed char)in[0], 100, &c), b = __builtin_sub_overflow((int)in[0], 200, &s);
  int d = __builtin_mul_overflow((long)in[0] << 55, 3L, &l);
  return a + 2 * b + 4 * d + (c & 7) * 8 + (s & 3) + (l < 0);
}
