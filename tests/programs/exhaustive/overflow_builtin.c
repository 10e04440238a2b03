// overflow builtins
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int r;
  _Bool o = __builtin_add_overflow((signed char)in[0] * 20000000, 100000000, &r);
  return o ? 200 : r & 127;
}
