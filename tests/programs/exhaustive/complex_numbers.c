// complex multiplication and division
#include "exhaustive.h"
#include <complex.h>

static long test(const unsigned char *in) {
  double complex z = in[0] - 100 + 2 * I, w = z * z / (1 + I);
  return (long)creal(w) + (long)cimag(w) * 3;
}
