// status: 0 3
#include "klee/klee.h"
#include <string.h>

static char name[100001];
int main(void) {
  memset(name, 'n', 100000);
  for (int i = 0; i < 3000; i++) {
    char c;
    klee_make_symbolic(&c, 1, name);
    if (c == 1)
      break;
  }
  return 0;
}
