// rounds: one distinct expression per operation, each used by thousands of others.
// Cost must be linear in the number of distinct expressions.
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
