// status: 0 3
#include "klee/klee.h"

static char huge[4000000000u];
int main(void) {
  unsigned i;
  klee_make_symbolic(&i, sizeof i, "i");
  if (i < sizeof huge)
    huge[i] = 1;
  return huge[7];
}
