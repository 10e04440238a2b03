// the least value divided by -1
// BUG overflow
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = (signed char)in[0];
  int n = x == 5 ? INT_MIN : 40;
  return n / (x == 5 ? x - 6 : 2);
}
