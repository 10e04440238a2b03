// status: 0 3
#include "klee/klee.h"
#include <stdlib.h>

int main(void) {
  size_t n = 1;
  char *p = malloc(n);
  for (; n < (1ul << 32); n *= 2) {
    p = realloc(p, n);
    if (!p)
      return 1;
    p[n - 1] = 1;
  }
  return p[0];
}
