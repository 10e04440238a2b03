// status: 3
#include "klee/klee.h"

int main(void) {
  for (unsigned n = 0;; n++) {
    char c;
    klee_make_symbolic(&c, 1, "c");
    if (c == 'q')
      return 0;
  }
}
