// The code that is left to reach is behind a function pointer that the library calls.
#include <stdlib.h>
#include "klee/klee.h"

static int swaps, equal;

static int compare(const void *a, const void *b) {
  signed char x = *(const signed char *)a, y = *(const signed char *)b;
  if (x == y) {
    equal++;
    return 0;
  }
  if (x < 0 && y >= 0) return 1;
  if (y < 0 && x >= 0) return -1;
  swaps++;
  return x < y ? -1 : 1;
}

int main(void) {
  signed char s[6];
  klee_make_symbolic(s, sizeof s, "s");
  if (s[0] != 'S') {
    int runs = 0;
    for (int i = 1; i < 6; i++)
      if (s[i] > s[i - 1]) runs++;
    return runs;
  }
  qsort(s, 6, 1, compare);
  if (equal == 5) return 10;
  if (s[0] == 0) return 11;
  return swaps > 8 ? 12 : 13;
}
