// status: 0 1 3
#include "klee/klee.h"
#include <stdlib.h>

int main(void) {
  size_t a, b;
  klee_make_symbolic(&a, sizeof a, "a");
  klee_make_symbolic(&b, sizeof b, "b");
  char *p = calloc(a, b);
  if (p && a > 3)
    p[b] = 1;
  return 0;
}
