// status: 0 3
#include "klee/klee.h"

static unsigned long mix(unsigned long h) {
  h ^= h >> 33; h *= 0xff51afd7ed558ccdul; h ^= h >> 33; h *= 0xc4ceb9fe1a85ec53ul; h ^= h >> 33;
  return h;
}
int main(void) {
  unsigned long a, b;
  klee_make_symbolic(&a, sizeof a, "a");
  klee_make_symbolic(&b, sizeof b, "b");
  unsigned long h = 1;
  for (int i = 0; i < 16; i++)
    h = mix(h ^ a) + mix(h + b);
  return h == 0x123456789abcdef;
}
