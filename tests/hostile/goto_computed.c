// status: 3
#include "klee/klee.h"

int main(void) {
  static void *l[3] = {&&a, &&b, &&c};
  unsigned char in[300];
  klee_make_symbolic(in, sizeof in, "in");
  int i = 0, n = 0;
a:
  n++;
b:
  n += 2;
c:
  if (++i == 300)
    i = 0;
  goto *l[in[i] % 3];
}
