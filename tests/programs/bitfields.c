// bitfields: packed and ordinary, signed and unsigned, neighbours untouched
// EXPECT: paths=2 bug=none
#include "klee/klee.h"

struct plain { unsigned a : 3; int b : 5; unsigned long c : 40; _Bool d : 1; };
struct __attribute__((packed)) tight { unsigned char x : 4; unsigned y : 17; signed char z : 3; };

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  struct plain p = {5, -3, 0x123456789aUL, 1};
  p.b = n;
  klee_assert(p.a == 5 && p.c == 0x123456789aUL && p.d);
  klee_assert(p.b == (signed char)(n << 3) >> 3);
  struct tight t = {9, 70000, -2};
  t.y += n;
  klee_assert(t.x == 9 && t.z == -2 && t.y == ((70000u + n) & 0x1ffff));
  if (p.b < 0)
    return 1;
  return 0;
}
