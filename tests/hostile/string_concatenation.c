// status: 0 1 3
#include "klee/klee.h"
#include <string.h>

static char s[1 << 20];
int main(void) {
  char c[4];
  klee_make_symbolic(c, sizeof c, "c");
  c[3] = 0;
  for (int i = 0; i < 20000; i++)
    strcat(s, c);
  return s[100] == 'x';
}
