// Figure 1 of the third paper: three branches on two signed bytes, which C promotes to int.
#include <klee/klee.h>
#include <stdint.h>

static int foo(int8_t a, int8_t b) {
  if (a + b >= 10) {
    if (2 * b - a >= 5) {
      if (2 * a - b >= 15) return 3;
      return 2;
    }
    return 1;
  }
  return 0;
}

int main(void) {
  int8_t a, b;
  klee_make_symbolic(&a, sizeof a, "a");
  klee_make_symbolic(&b, sizeof b, "b");
  return foo(a, b);
}
