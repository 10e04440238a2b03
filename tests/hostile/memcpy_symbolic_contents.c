// status: 0 3
#include "klee/klee.h"
#include <string.h>

char a[1 << 24], b[1 << 24];
int main(void) {
  unsigned i;
  klee_make_symbolic(&i, sizeof i, "i");
  a[i % sizeof a] = 1;
  for (int k = 0; k < 100; k++) {
    memcpy(b, a, sizeof a);
    memcpy(a, b, sizeof a);
    memmove(a + 1, a, sizeof a - 1);
  }
  return b[77];
}
