// status: 0 1 3
#include "klee/klee.h"
#include <stdlib.h>
#include <string.h>

int main(void) {
  size_t n;
  klee_make_symbolic(&n, sizeof n, "n");
  char *p = malloc(1 << 24);
  memset(p, 1, n);
  return p[n / 3];
}
