// status: 0 3
#include "klee/klee.h"
#include <stdlib.h>

int main(void) {
  for (int i = 0; i < 1000; i++) {
    char *p = malloc(1u << 30);
    if (!p)
      return 1;
    p[i] = 1;
  }
  return 0;
}
