// division of complex numbers
#include "exhaustive.h"
#include <complex.h>

static long test(const unsigned char *in) {
  double complex z = (in[0] + 1.0 * I) / (2.0 - (in[0] & 1) * I);
  return (long)(creal(z) * 4) + (long)(cimag(z) * 8);
}
