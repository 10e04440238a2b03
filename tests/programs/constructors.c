// constructors: run before main, by priority
// EXPECT: paths=2 bug=none
#include "klee/klee.h"

static int order;
static unsigned char table[256];

__attribute__((constructor(300))) static void later(void) { order = order * 10 + 2; }
__attribute__((constructor(200))) static void sooner(void) { order = order * 10 + 1; }
__attribute__((constructor)) static void last(void) {
  order = order * 10 + 3;
  for (int i = 0; i < 256; i++)
    table[i] = (unsigned char)(255 - i);
}

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assert(order == 123);
  if (table[n] == 42)
    return 1;
  return 0;
}
