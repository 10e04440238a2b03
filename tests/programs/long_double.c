// long_double: concrete extended precision beside a symbolic byte
// EXPECT: paths=1 bug=none
#include "klee/klee.h"

static long double third(long double x) { return x / 3; }

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  long double x = third(21.0L) + 0.25L;
  klee_assert((int)(x * 4) == 29);
  klee_assert((double)x == 7.25 && x > 7.0L && !(x != x));
  long double cells[2] = {1.5L, -2.5L};
  klee_assert((float)(cells[0] + cells[1]) == -1.0f && sizeof cells == 32);
  return n < 9 ? 3 : 0;
}
