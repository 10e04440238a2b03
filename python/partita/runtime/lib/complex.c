/* Complex multiplication and division, which compilers call by these names. C11, Annex G.5.1: the formulas, and the
   infinities to return where the formulas give two NaNs. */
#include <complex.h>
#include <math.h>

#define MULTIPLY(NAME, REAL, COPYSIGN)                                                                                 \
  _Complex REAL NAME(REAL a, REAL b, REAL c, REAL d) {                                                                 \
    REAL ac = a * c, bd = b * d, ad = a * d, bc = b * c;                                                               \
    REAL re = ac - bd, im = ad + bc;                                                                                   \
    if (isnan(re) && isnan(im)) {                                                                                      \
      int recalculate = 0;                                                                                             \
      if (isinf(a) || isinf(b)) {                                                                                      \
        a = COPYSIGN(isinf(a) ? 1 : 0, a), b = COPYSIGN(isinf(b) ? 1 : 0, b);                                          \
        if (isnan(c)) c = COPYSIGN(0, c);                                                                              \
        if (isnan(d)) d = COPYSIGN(0, d);                                                                              \
        recalculate = 1;                                                                                               \
      }                                                                                                                \
      if (isinf(c) || isinf(d)) {                                                                                      \
        c = COPYSIGN(isinf(c) ? 1 : 0, c), d = COPYSIGN(isinf(d) ? 1 : 0, d);                                          \
        if (isnan(a)) a = COPYSIGN(0, a);                                                                              \
        if (isnan(b)) b = COPYSIGN(0, b);                                                                              \
        recalculate = 1;                                                                                               \
      }                                                                                                                \
      if (!recalculate && (isinf(ac) || isinf(bd) || isinf(ad) || isinf(bc))) {                                        \
        if (isnan(a)) a = COPYSIGN(0, a);                                                                              \
        if (isnan(b)) b = COPYSIGN(0, b);                                                                              \
        if (isnan(c)) c = COPYSIGN(0, c);                                                                              \
        if (isnan(d)) d = COPYSIGN(0, d);                                                                              \
        recalculate = 1;                                                                                               \
      }                                                                                                                \
      if (recalculate) {                                                                                               \
        re = (REAL)INFINITY * (a * c - b * d);                                                                         \
        im = (REAL)INFINITY * (a * d + b * c);                                                                         \
      }                                                                                                                \
    }                                                                                                                  \
    return CMPLX_OF(REAL, re, im);                                                                                     \
  }

/* The divisor is scaled by a power of two, so that the sum of its squares neither overflows nor vanishes. */
#define DIVIDE(NAME, REAL, COPYSIGN, FABS, FMAX, LOGB, SCALBN)                                                         \
  _Complex REAL NAME(REAL a, REAL b, REAL c, REAL d) {                                                                 \
    int scale = 0;                                                                                                     \
    REAL exponent = LOGB(FMAX(FABS(c), FABS(d)));                                                                      \
    if (isfinite(exponent)) {                                                                                          \
      scale = (int)exponent;                                                                                           \
      c = SCALBN(c, -scale), d = SCALBN(d, -scale);                                                                    \
    }                                                                                                                  \
    REAL squares = c * c + d * d;                                                                                      \
    REAL re = SCALBN((a * c + b * d) / squares, -scale), im = SCALBN((b * c - a * d) / squares, -scale);               \
    if (isnan(re) && isnan(im)) {                                                                                      \
      if (squares == 0 && (!isnan(a) || !isnan(b))) {                                                                  \
        re = COPYSIGN((REAL)INFINITY, c) * a;                                                                          \
        im = COPYSIGN((REAL)INFINITY, c) * b;                                                                          \
      } else if ((isinf(a) || isinf(b)) && isfinite(c) && isfinite(d)) {                                               \
        a = COPYSIGN(isinf(a) ? 1 : 0, a), b = COPYSIGN(isinf(b) ? 1 : 0, b);                                          \
        re = (REAL)INFINITY * (a * c + b * d);                                                                         \
        im = (REAL)INFINITY * (b * c - a * d);                                                                         \
      } else if (isinf(exponent) && exponent > 0 && isfinite(a) && isfinite(b)) {                                      \
        c = COPYSIGN(isinf(c) ? 1 : 0, c), d = COPYSIGN(isinf(d) ? 1 : 0, d);                                          \
        re = 0 * (a * c + b * d);                                                                                      \
        im = 0 * (b * c - a * d);                                                                                      \
      }                                                                                                                \
    }                                                                                                                  \
    return CMPLX_OF(REAL, re, im);                                                                                     \
  }

/* Not `re + im * I`, which would multiply. */
#define CMPLX_OF(REAL, RE, IM) ((union { REAL parts[2]; _Complex REAL whole; }){{RE, IM}}.whole)

MULTIPLY(__mulsc3, float, copysignf)
MULTIPLY(__muldc3, double, copysign)
MULTIPLY(__mulxc3, long double, copysignl)
DIVIDE(__divsc3, float, copysignf, fabsf, fmaxf, logbf, scalbnf)
DIVIDE(__divdc3, double, copysign, fabs, fmax, logb, scalbn)
DIVIDE(__divxc3, long double, copysignl, fabsl, fmaxl, logbl, scalbnl)

/* Integer powers, as compiler-rt computes them: `__builtin_powi`. */
#define POWER(name, real)                  \
  real name(real base, int exponent) {     \
    real result = 1;                       \
    int divides = exponent < 0;            \
    for (;;) {                             \
      if (exponent & 1) result *= base;    \
      exponent /= 2;                       \
      if (!exponent) break;                \
      base *= base;                        \
    }                                      \
    return divides ? 1 / result : result;  \
  }
POWER(__powisf2, float)
POWER(__powidf2, double)
POWER(__powixf2, long double)
