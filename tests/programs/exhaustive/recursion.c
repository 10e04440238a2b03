// recursion
#include "exhaustive.h"

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static long test(const unsigned char *in) {
  return fib(in[0] & 7) + in[0] / 128;
}
