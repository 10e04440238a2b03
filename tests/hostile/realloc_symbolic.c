// status: 0 1 3
#include "klee/klee.h"
#include <stdlib.h>

int main(void) {
  char *p = malloc(1 << 20);
  unsigned i;
  klee_make_symbolic(&i, sizeof i, "i");
  if (i >= 1 << 20)
    return 0;
  p[i] = 1;
  for (unsigned n = 1 << 20; n < 1u << 31; n += 1 << 20)
    p = realloc(p, n);
  return p[5];
}
