// status: 3
#include "klee/klee.h"

int __VERIFIER_nondet_int(void);
int main(void) {
  int n = 0;
  for (int i = 0; i < 20000; i++)
    if (__VERIFIER_nondet_int() > 0)
      n++;
  return n;
}
