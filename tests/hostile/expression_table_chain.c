// status: 0 3
#include "klee/klee.h"

static unsigned char t[256];
int main(void) {
  unsigned char x;
  for (int i = 0; i < 256; i++)
    t[i] = i * 167 + 13;
  klee_make_symbolic(&x, 1, "x");
  for (int i = 0; i < 5000; i++)
    x = t[x ^ t[i & 255]];
  return x == 9;
}
