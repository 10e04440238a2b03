// status: 3
#include "klee/klee.h"
#include <stdlib.h>

int main(void) {
  for (;;) {
    char *p = malloc(100000);
    char c;
    klee_make_symbolic(&c, 1, "c");
    for (int i = 0; i < 100000; i += 512)
      p[i] = c > 3 ? i : 5;
  }
}
