// status: 0 1 3
#include "klee/klee.h"
#include <setjmp.h>

static jmp_buf b[64];
static void f(int n, unsigned x) {
  if (n == 64)
    longjmp(b[x % 64], 1);
  if (setjmp(b[n]) == 0)
    f(n + 1, x);
  else if (x > 9)
    f(n, x / 2);
}
int main(void) {
  unsigned x;
  klee_make_symbolic(&x, sizeof x, "x");
  f(0, x);
  return 0;
}
