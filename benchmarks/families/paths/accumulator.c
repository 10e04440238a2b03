// A running sum is checked after each byte: every condition depends on all bytes before it.
#include "klee/klee.h"
int main(void) {
  unsigned char in[N];
  klee_make_symbolic(in, sizeof in, "in");
  unsigned sum = 0;
  for (int i = 0; i < N; i++) {
    sum += in[i];
    if (sum > 100u * (i + 1))
      return 1;
  }
  return 0;
}
