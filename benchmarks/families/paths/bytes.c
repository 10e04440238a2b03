// Each byte is checked by itself.
#include "klee/klee.h"
int main(void) {
  unsigned char in[N];
  klee_make_symbolic(in, sizeof in, "in");
  for (int i = 0; i < N; i++)
    if (in[i] == 'x')
      return 1;
  return 0;
}
