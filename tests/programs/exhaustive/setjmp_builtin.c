// __builtin_setjmp, and a variable that is changed before the jump
#include "exhaustive.h"

static void *buffer[5];
__attribute__((noinline)) static void jump(int n) { if (n > 100) __builtin_longjmp(buffer, 1); }

static long test(const unsigned char *in) {
  int before = 4;
  if (__builtin_setjmp(buffer)) return before;
  before += in[0] & 3;
  jump(in[0]);
  return 8;
}
