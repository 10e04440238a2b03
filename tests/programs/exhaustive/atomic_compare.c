// atomic compare and exchange
#include "exhaustive.h"
#include <stdatomic.h>

static long test(const unsigned char *in) {
  _Atomic int a = in[0] & 3;
  int e = 2;
  _Bool x = atomic_compare_exchange_strong(&a, &e, 9);
  int before = atomic_fetch_sub(&a, 5);
  return x + e * 2 + before * 16 + a;
}
