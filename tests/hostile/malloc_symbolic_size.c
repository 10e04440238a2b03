// status: 0 1 3
#include "klee/klee.h"
#include <stdlib.h>

int main(void) {
  unsigned n, i;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_make_symbolic(&i, sizeof i, "i");
  char *p = malloc(n);
  p[i] = 1;
  return p[n / 2];
}
