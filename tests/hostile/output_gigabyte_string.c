// status: 0 1 3
#include "klee/klee.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char *p = malloc(1u << 30);
  memset(p, 'a', (1u << 30) - 1);
  puts(p);
  return 0;
}
