// status: 0 1 3
#include "klee/klee.h"
#include <string.h>

char a[1 << 20], b[1 << 20];
int main(void) {
  size_t n;
  unsigned i;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_make_symbolic(&i, sizeof i, "i");
  memcpy(b + i, a, n);
  return b[1000];
}
