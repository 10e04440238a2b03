// recursion: mutual and deep, with separate locals per call
// EXPECT: paths=12 bug=none
#include "klee/klee.h"

static int is_odd(unsigned n);
static int is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }
static int is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }

static int ackermann(int m, int n) {
  if (m == 0)
    return n + 1;
  if (n == 0)
    return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

static int depth(const char *s, int *deepest, int level) {
  char here[4] = {(char)level};
  if (level > *deepest)
    *deepest = level;
  if (*s)
    depth(s + 1, deepest, level + 1);
  return here[0];
}

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assume(n < 12);
  int deepest = 0;
  klee_assert(depth("abcdef", &deepest, 0) == 0 && deepest == 6);
  klee_assert(ackermann(2, 3) == 9);
  return is_even(n);
}
