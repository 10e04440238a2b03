// compare and exchange
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = 7;
  int expected = in[0] & 7;
  int done = __atomic_compare_exchange_n(&x, &expected, 99, 0, 5, 5);
  return done * 100 + expected + x;
}
