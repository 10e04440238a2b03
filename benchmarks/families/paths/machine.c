// A state machine whose state depends on all bytes before it, without a branch per byte but for the check.
#include "klee/klee.h"
int main(void) {
  unsigned char in[N];
  klee_make_symbolic(in, sizeof in, "in");
  unsigned char state = 1;
  for (int i = 0; i < N; i++) {
    state = state * 5 + in[i];
    if (state == 0)
      return 1;
  }
  return 0;
}
