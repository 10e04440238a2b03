// unions: the same memory read as integer, bytes and float
// EXPECT: paths=1 bug=none
#include <stdint.h>
#include "klee/klee.h"

union word { uint32_t whole; uint8_t byte[4]; uint16_t half[2]; float real; };

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  union word w;
  w.whole = 0x11223344;
  w.byte[1] = n;
  klee_assert((w.whole & 0xffff00ff) == 0x11220044);
  klee_assert(w.half[0] == (n << 8 | 0x44));
  union word one = {.real = 1.0f};
  klee_assert(one.whole == 0x3f800000);
  return w.half[0] >= 0x8000 ? 1 : 0;
}
