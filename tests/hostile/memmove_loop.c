// status: 3
#include "klee/klee.h"
#include <string.h>

char a[1 << 22];
int main(void) {
  a[5] = 1;
  for (unsigned i = 1;; i++)
    memmove(a + i % 4096, a + i % 1111, sizeof a - 4096);
}
