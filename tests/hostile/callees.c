// status: 0 1 3
#include "klee/klee.h"

typedef int (*F)(int);
static int f0(int x) { return x; }
static int f1(int x) { return x + 1; }
static int f2(int x) { return x * 2; }
int main(void) {
  F f[3] = {f0, f1, f2};
  unsigned in[200];
  klee_make_symbolic(in, sizeof in, "in");
  int n = 0;
  for (int i = 0; i < 200; i++)
    n = f[in[i] % 3](n);
  return n == 9;
}
