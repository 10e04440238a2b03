// status: 0 1 3
#include "klee/klee.h"
#include <string.h>

static char s[1 << 20];
int main(void) {
  klee_make_symbolic(s, sizeof s, "s");
  s[sizeof s - 1] = 0;
  if (strlen(s) == 500000 && strchr(s, 'x') == s + 7)
    return 1;
  return strcmp(s, s + 1) == 0;
}
