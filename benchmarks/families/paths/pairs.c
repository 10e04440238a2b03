// Each byte is compared with the one before it.
#include "klee/klee.h"
int main(void) {
  unsigned char in[N];
  klee_make_symbolic(in, sizeof in, "in");
  for (int i = 1; i < N; i++)
    if (in[i] < in[i - 1])
      return 1;
  return 0;
}
