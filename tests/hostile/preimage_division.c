// status: 0 1 3
#include "klee/klee.h"

// Status 1: the least number divided by -1 is an overflow, which the conditions do not exclude.
int main(void) {
  long a, b, c;
  klee_make_symbolic(&a, sizeof a, "a");
  klee_make_symbolic(&b, sizeof b, "b");
  klee_make_symbolic(&c, sizeof c, "c");
  if (b != 0 && c != 0 && (a / b) * (b / c) % 1000003 == 77 && a % b == c % 7919 && a > 1l << 50)
    return 1;
  return 0;
}
