// status: 0
#include "klee/klee.h"
#include <stdlib.h>

int main(void) {
  char *p = malloc(1u << 30);
  unsigned i;
  klee_make_symbolic(&i, sizeof i, "i");
  if (i >= 1u << 30)
    return 0;
  p[i] = 7;
  p[(1u << 30) - 1] = 3;
  return p[i] == 7 ? 1 : 2;
}
