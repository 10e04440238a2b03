// a callback with state
#include "exhaustive.h"

static void add(int bit, void *p) { *(int *)p += bit * bit; }
static void each(int x, void (*f)(int, void *), void *p) { for (int i = 0; i < 8; i++) if (x >> i & 1) f(i, p); }

static long test(const unsigned char *in) {
  int sum = 0;
  each(in[0], add, &sum);
  return sum;
}
