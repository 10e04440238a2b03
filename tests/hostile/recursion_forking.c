// status: 0 1 3
#include "klee/klee.h"

static int f(unsigned x, int n) { return x & 1u << n % 32 ? f(x * 3, n + 1) : f(x + n, n + 1) + 1; }
int main(void) {
  unsigned x;
  klee_make_symbolic(&x, sizeof x, "x");
  return f(x, 0);
}
