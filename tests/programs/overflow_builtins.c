// overflow_builtins: overflow-checking arithmetic, bit counts and byte swaps
// EXPECT: paths=2 bug=none
#include <stdint.h>
#include "klee/klee.h"

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  unsigned char sum;
  int over = __builtin_add_overflow(n, (unsigned char)100, &sum);
  klee_assert(over == (n > 155) && sum == (unsigned char)(n + 100));
  int8_t product;
  if (__builtin_mul_overflow((int8_t)n, (int8_t)2, &product))
    return 1;
  klee_assert(product == (int8_t)n * 2);
  klee_assert(__builtin_popcount(n) == __builtin_popcount((unsigned)n << 9));
  klee_assert(__builtin_bswap32(n) == (uint32_t)n << 24);
  klee_assert(__builtin_clz(n | 1) + __builtin_ctz(1u << 7) <= 38);
  return 0;
}
