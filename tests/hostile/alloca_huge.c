// status: 0 1 3
#include "klee/klee.h"

int main(void) {
  unsigned n;
  klee_make_symbolic(&n, sizeof n, "n");
  char a[n];
  a[n / 2] = 1;
  return a[n - 1];
}
