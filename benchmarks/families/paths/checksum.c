// Bytes are checked one by one, and a checksum over all of them at the end.
#include "klee/klee.h"
int main(void) {
  unsigned char in[N];
  klee_make_symbolic(in, sizeof in, "in");
  unsigned a = 1, b = 0;
  for (int i = 0; i < N; i++) {
    if (in[i] == 0)
      return 1;
    a += in[i];
    b += a;
  }
  if ((a ^ b) % 251 == 7)
    return 2;
  return 0;
}
