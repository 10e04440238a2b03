// functions through an alias and through a table with a symbolic index
#include "exhaustive.h"

int twice(int x) { return 2 * x; }
int again(int x) __attribute__((alias("twice")));
static int other(int x) { return x ^ 5; }

static long test(const unsigned char *in) {
  int (*table[])(int) = {twice, again, 0, other};
  int (*f)(int) = table[in[0] & 3];
  if (!f) return 77;
  return f(in[0] >> 2);
}
