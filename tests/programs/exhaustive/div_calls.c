// div and ldiv by symbolic divisors, zero among them
#include "exhaustive.h"

static long test(const unsigned char *in) {
  div_t d = div(1000, (signed char)in[0]);
  ldiv_t l = ldiv(-77, in[0]);
  return d.quot + d.rem * 3 + l.quot + l.rem;
}
