// status: 0
#include "klee/klee.h"
#include <stdlib.h>
#include <string.h>

int main(void) {
  char *p = malloc(3ul << 30);
  memset(p, 255, 3ul << 30);
  return p[2ul << 30] == -1 ? 0 : 1;
}
