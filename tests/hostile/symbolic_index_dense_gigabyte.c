// status: 0 3
#include "klee/klee.h"
#include <stdlib.h>

int main(void) {
  unsigned *p = malloc(1u << 30), i;
  klee_make_symbolic(&i, sizeof i, "i");
  for (unsigned k = 0; k < 1u << 28; k += 1024)
    p[k] = k;
  return p[i % (1u << 28)] == 4096;
}
