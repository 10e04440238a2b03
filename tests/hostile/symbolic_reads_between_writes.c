// status: 0 3
#include "klee/klee.h"

int a[200000];
int main(void) {
  unsigned i, sum = 0;
  klee_make_symbolic(&i, sizeof i, "i");
  for (unsigned k = 0; k < 200000; k++) {
    a[k] = k;
    sum += a[(i + k) % 200000];
  }
  return sum == 5;
}
