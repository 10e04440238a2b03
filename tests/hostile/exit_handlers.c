// status: 0 1 3
#include "klee/klee.h"
#include <stdlib.h>

static void again(void) { atexit(again); }
int main(void) {
  atexit(again);
  return 0;
}
