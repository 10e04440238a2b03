// status: 0 1 3
#include "klee/klee.h"
#include <stdlib.h>
#include <string.h>

int main(void) {
  char *p = malloc(1u << 30);
  unsigned i;
  klee_make_symbolic(&i, sizeof i, "i");
  if (i >= 1u << 30)
    return 0;
  for (int k = 0; k < 40; k++) {
    p[i] = 1;
    memset(p + 1, k, (1u << 30) - 2);
  }
  return p[i];
}
