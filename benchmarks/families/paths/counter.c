// The number of rounds is an input.
#include "klee/klee.h"
int main(void) {
  unsigned n, i = 0;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assume(n <= N);
  while (i < n)
    i++;
  return i == N;
}
