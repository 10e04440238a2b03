// Each round has an input of its own.
#include "klee/klee.h"
int main(void) {
  int last = 0;
  for (int i = 0; i < N; i++) {
    int x = klee_int("x");
    if (x < last)
      return 1;
    last = x;
  }
  return 0;
}
