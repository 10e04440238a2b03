// assembly: the inline assembly of longlong.h has the results of its C equivalents
// EXPECT: paths=1 bug=none
#include "klee/klee.h"

typedef unsigned long word;
typedef unsigned __int128 wide;

static wide both(word high, word low) { return (wide)high << 64 | low; }

static void check(word a, word b, word c, word d) {
  word high, low;
  int count;
  __asm__("addq %5,%q1\n\tadcq %3,%q0" : "=r"(high), "=&r"(low) : "0"(a), "rme"(b), "%1"(c), "rme"(d));
  klee_assert(both(high, low) == both(a, c) + both(b, d));
  __asm__("subq %5,%q1\n\tsbbq %3,%q0" : "=r"(high), "=&r"(low) : "0"(a), "rme"(b), "1"(c), "rme"(d));
  klee_assert(both(high, low) == both(a, c) - both(b, d));
  __asm__("mulq\t%3" : "=a"(low), "=d"(high) : "%0"(a), "rm"(b));
  klee_assert(both(high, low) == (wide)a * b);
  if (d > c) {
    word quotient, rest;
    __asm__("divq %4" : "=a"(quotient), "=d"(rest) : "0"(a), "1"(c), "rm"(d));
    klee_assert(quotient == (word)(both(c, a) / d) && rest == (word)(both(c, a) % d));
  }
  if (a) {
    word top;
    __asm__("bsf\t%1, %q0" : "=r"(count) : "rm"(a));
    klee_assert(count == __builtin_ctzl(a));
    __asm__("bsr\t%1,%0" : "=r"(top) : "rm"(a));
    klee_assert(top == 63 - (word)__builtin_clzl(a));
  }
}

int main(void) {
  static const word some[] = {0, 1, 2, 63, 0x8000000000000000, 0xffffffffffffffff, 0x123456789abcdef0, 10};
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) check(some[i], some[j], some[(i + j) % 8], some[(i * 3 + j) % 8]);
  return 0;
}
