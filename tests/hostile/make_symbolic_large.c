// status: 0 3
#include "klee/klee.h"

static char p[1 << 18];
int main(void) {
  klee_make_symbolic(p, sizeof p, "p");
  int n = 0;
  for (int i = 0; i < 10; i++)
    if (p[i * 4096] == i)
      n++;
  return n;
}
