// rounds: as many distinct expressions as operations, each of them used by thousands of others.
// Cost has to be linear in their number, however often each is used.
#include "klee/klee.h"
int main(void) {
  unsigned w[16], sum = 0;
  klee_make_symbolic(w, sizeof w, "w");
  for (int i = 0; i < 3200; i++) {
    unsigned a = w[i % 16], b = w[(i + 5) % 16], c = w[(i + 11) % 16];
    w[i % 16] = ((a + b) ^ (c << 7 | c >> 25)) * 2654435761u;
  }
  for (int i = 0; i < 16; i++)
    sum ^= w[i];
  return sum == 0x12345678;
}
