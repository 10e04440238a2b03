// status: 0 3
#include "klee/klee.h"

int __VERIFIER_nondet_int(void);
int main(void) {
  int n = 0;
  for (int i = 0; i < 50000; i++)
    n += __VERIFIER_nondet_int() & 1;
  return n == 17;
}
