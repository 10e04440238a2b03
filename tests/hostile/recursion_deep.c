// status: 0 1 3
#include "klee/klee.h"

static int f(int n, int x) { return n == 0 ? x : f(n - 1, x + 1) + 1; }
int main(void) {
  int x;
  klee_make_symbolic(&x, sizeof x, "x");
  return f(90000, x) == 3;
}
