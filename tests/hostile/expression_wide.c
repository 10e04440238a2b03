// status: 0 3
#include "klee/klee.h"

int main(void) {
  unsigned char in[4096], sum = 0;
  klee_make_symbolic(in, sizeof in, "in");
  for (int k = 0; k < 20; k++) {
    for (int i = 0; i < 4096; i++)
      sum += in[i] * (i + k);
    if (sum == k)
      return 1;
  }
  return 0;
}
