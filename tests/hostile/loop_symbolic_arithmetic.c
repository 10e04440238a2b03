// status: 3
#include "klee/klee.h"

int main(void) {
  unsigned x;
  klee_make_symbolic(&x, sizeof x, "x");
  for (;;)
    x = x * 1103515245 + 12345;
}
