// status: 3
// args: --search bfs
#include "klee/klee.h"

int main(void) {
  unsigned char in[400];
  klee_make_symbolic(in, sizeof in, "in");
  int n = 0;
  for (int i = 0; i < 400; i++)
    if (in[i] > 100)
      n++;
  return n;
}
