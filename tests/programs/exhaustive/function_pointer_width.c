// calls through another integer type
#include "exhaustive.h"

static int next(int x) { return (unsigned char)(x + 1); }

static long test(const unsigned char *in) {
  return ((long (*)(signed char))next)((signed char)in[0]);
}
