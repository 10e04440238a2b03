// status: 0 3
#include "klee/klee.h"

int main(void) {
  unsigned long a, b;
  klee_make_symbolic(&a, sizeof a, "a");
  klee_make_symbolic(&b, sizeof b, "b");
  if (a > 1 && b > 1 && a < 1ul << 32 && b < 1ul << 32 && a * b == 18446743979220271189ul)
    return 1;
  return 0;
}
