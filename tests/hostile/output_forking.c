// status: 3
#include "klee/klee.h"
#include <stdio.h>

int main(void) {
  unsigned char in[64];
  klee_make_symbolic(in, sizeof in, "in");
  for (int i = 0; i < 64; i++) {
    for (int k = 0; k < 300; k++)
      printf("a line of output that every fork takes along %d\n", k);
    if (in[i] > 9)
      putchar(in[i]);
  }
  return 0;
}
