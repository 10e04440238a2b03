// mutual recursion
#include "exhaustive.h"

static int odd(int n);
static int even(int n) { return n ? odd(n - 1) : 1; }
static int odd(int n) { return n ? even(n - 1) : 0; }

static long test(const unsigned char *in) {
  return even(in[0] & 15) * 3 + in[0] / 100;
}
