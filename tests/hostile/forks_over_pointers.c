// status: 0 1 3
#include "klee/klee.h"
#include <stdlib.h>

int *cells[2000];
int main(void) {
  unsigned i, j;
  klee_make_symbolic(&i, sizeof i, "i");
  klee_make_symbolic(&j, sizeof j, "j");
  for (int k = 0; k < 2000; k++)
    cells[k] = malloc(64);
  for (int k = 0; k < 8; k++)
    *cells[(i + k * j) % 2000] = k;
  return *cells[j % 2000];
}
