// status: 0 3
#include "klee/klee.h"

static int table[2621440] = {1, 2, 3};
static char text[1 << 20] = "text";
int main(void) {
  unsigned i;
  klee_make_symbolic(&i, sizeof i, "i");
  for (int k = 0; k < 30; k++)
    if (table[(i + k) % 2621440] == 2)
      table[k] = text[i % sizeof text];
  return 0;
}
