// setjmp and longjmp
#include "exhaustive.h"

static long test(const unsigned char *in) {
  jmp_buf b;
  volatile int n = in[0] & 3;
  int r = setjmp(b);
  if (r < n) longjmp(b, r + 1);
  return r * 5 + in[0] / 200;
}
