// Sums over a window of three bytes are bounded.
#include "klee/klee.h"
int main(void) {
  unsigned char in[N];
  klee_make_symbolic(in, sizeof in, "in");
  for (int i = 2; i < N; i++)
    if (in[i] + in[i - 1] > 2 * in[i - 2] + 100)
      return 1;
  return 0;
}
