// atomic operations
#include "exhaustive.h"

static long test(const unsigned char *in) {
  _Atomic int a = in[0];
  a += 3;
  int x = a, old = __atomic_fetch_sub(&x, 5, __ATOMIC_SEQ_CST);
  return old * 2 + x;
}
