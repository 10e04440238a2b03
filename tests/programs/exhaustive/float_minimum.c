// fmin and fmax with NaN, infinities and numbers
#include "exhaustive.h"
#include <math.h>
static double pick(unsigned k) { switch (k & 7) { case 0: return NAN; case 1: return INFINITY; case 2: return -INFINITY; case 3: return 1; case 4: return -2.5; case 5: return 1e-310; default: return 7; } }
static long test(const unsigned char *in) {
  double a = pick(in[0]), b = pick(in[0] >> 3);
  double m = fmin(a, b), n = fmax(a, b);
  long r = 0;
  if (m != m) r |= 1; if (n != n) r |= 2; if (m < 0) r |= 4; if (n > 1) r |= 8; if (m == a) r |= 16; if (n == b) r |= 32; 
  r |= (fdim(a, b) > 0) << 6;
  return r;
}
