// status: 0 3
#include "klee/klee.h"
#include <stdlib.h>
#include <string.h>

int main(void) {
  char *p = malloc(1u << 30), c;
  klee_make_symbolic(&c, 1, "c");
  memset(p, c, 1u << 30);
  memset(p, c + 1, 1u << 29);
  return p[12345] == c;
}
