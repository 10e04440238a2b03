// status: 3
#include "klee/klee.h"
#include <stdlib.h>

int main(void) {
  for (;;) {
    char *p = malloc(4000);
    for (int i = 0; i < 4000; i += 64)
      p[i] = i;
  }
}
