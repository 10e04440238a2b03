// variable_arrays: arrays of variable length and alloca, in loops
// EXPECT: paths=2 bug=none
#include "klee/klee.h"

static int fill(int n) {
  int cells[n], sum = 0;
  for (int i = 0; i < n; i++)
    cells[i] = i * i;
  for (int i = 0; i < n; i++) {
    char *p = __builtin_alloca(i + 1);
    p[i] = (char)cells[i];
    sum += p[i];
  }
  return sum + (int)sizeof cells;
}

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  int size = n & 1 ? 4 : 7;
  klee_assert(fill(size) == (n & 1 ? 30 : 119));
  return size;
}
