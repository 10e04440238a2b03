// status: 0 1 3
#include "klee/klee.h"
#include <stdio.h>

int main(void) {
  static char b[1 << 16];
  int x;
  klee_make_symbolic(&x, sizeof x, "x");
  for (int i = 0; i < 1000; i++)
    snprintf(b, sizeof b, "%d %60000d %s", x, i, b + 1);
  return b[3];
}
