// int128: arithmetic, shifts, division and comparison over 128 bits
// EXPECT: paths=3 bug=none
#include <stdint.h>
#include "klee/klee.h"

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  unsigned __int128 x = (unsigned __int128)n << 100 | 12345;
  klee_assert((uint64_t)(x >> 64) == (uint64_t)n << 36);
  __int128 s = -(__int128)n;
  s = s * 1000000007 * 1000000009;
  klee_assert(s / 1000000009 == -(__int128)n * 1000000007);
  klee_assert((uint64_t)(((unsigned __int128)~0ull * ~0ull) >> 64) == ~0ull - 1);
  if (x > (unsigned __int128)200 << 100)
    return 1;
  if (s == 0)
    return 2;
  return 0;
}
