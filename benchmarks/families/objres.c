// One read at an unconstrained index: which objects can the address be in? LENGTH elements of TYPE.
#include <klee/klee.h>
#include <stdint.h>

static TYPE table[LENGTH];

int main(void) {
  uint32_t state = 12345;
  for (int i = 0; i < LENGTH; i++) {
    state = state * 1103515245u + 12345u;
    table[i] = (TYPE)(state >> 16);
  }
  uint64_t index;
  klee_make_symbolic(&index, sizeof index, "index");
  volatile TYPE found = table[index];
  return 0;
}
