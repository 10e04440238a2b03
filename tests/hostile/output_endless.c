// status: 3
#include "klee/klee.h"
#include <stdio.h>

int main(void) {
  for (int i = 0;; i++)
    printf("line %d of an output that does not end\n", i);
}
