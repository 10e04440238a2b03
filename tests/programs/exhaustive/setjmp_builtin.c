// __builtin_setjmp
#include "exhaustive.h"

static void *buffer[5];
__attribute__((noinline)) static void jump(int n) { if (n > 100) __builtin_longjmp(buffer, 1); }

static long test(const unsigned char *in) {
  if (__builtin_setjmp(buffer)) return 4;
  jump(in[0]);
  return 8;
}
