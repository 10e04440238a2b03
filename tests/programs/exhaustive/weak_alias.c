// a weak alias, and a weak function that is not there
#include "exhaustive.h"

int real(int x) { return x + 1; }
int other(int) __attribute__((weak, alias("real")));
extern int missing(int) __attribute__((weak));

static long test(const unsigned char *in) {
  int (*table[2])(int) = {other, missing};
  return table[in[0] & 1] ? table[in[0] & 1](in[0]) : 9;
}
