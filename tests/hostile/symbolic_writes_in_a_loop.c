// status: 0 3
#include "klee/klee.h"

int a[1 << 20];
int main(void) {
  unsigned i;
  klee_make_symbolic(&i, sizeof i, "i");
  for (unsigned k = 0; k < 100000; k++)
    a[(i + k * 17) % (1 << 20)] = k;
  return a[99] == 3;
}
