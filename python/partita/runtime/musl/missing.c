/* Functions whose C sources are not in the ziglang wheel, because zig implements them in Zig. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>
#include "libm.h"

int abs(int n) { return n < 0 ? -n : n; }
long labs(long n) { return n < 0 ? -n : n; }
long long llabs(long long n) { return n < 0 ? -n : n; }
intmax_t imaxabs(intmax_t n) { return n < 0 ? -n : n; }

int __strcasecmp_l(const char *a, const char *b, locale_t locale) { return strcasecmp(a, b); }
int __strncasecmp_l(const char *a, const char *b, size_t n, locale_t locale) { return strncasecmp(a, b, n); }
weak_alias(__strcasecmp_l, strcasecmp_l);
weak_alias(__strncasecmp_l, strncasecmp_l);

double fabs(double x) { return __builtin_fabs(x); }
float fabsf(float x) { return __builtin_fabsf(x); }
long double fabsl(long double x) { return __builtin_fabsl(x); }

double floor(double x) { return __builtin_floor(x); }
float floorf(float x) { return __builtin_floorf(x); }
long double floorl(long double x) { return __builtin_floorl(x); }

/* x = quarter * pi/2 + rest[0] + rest[1], where |rest[0] + rest[1]| <= pi/4. */
static int quarter_of(double x, double rest[2]) {
  if (fabs(x) <= M_PI_4) {
    rest[0] = x;
    rest[1] = 0;
    return 0;
  }
  return __rem_pio2(x, rest) & 3;
}

double sin(double x) {
  double rest[2];
  if (!isfinite(x)) return x - x;
  switch (quarter_of(x, rest)) {
  case 0: return __sin(rest[0], rest[1], 1);
  case 1: return __cos(rest[0], rest[1]);
  case 2: return -__sin(rest[0], rest[1], 1);
  default: return -__cos(rest[0], rest[1]);
  }
}

double cos(double x) {
  double rest[2];
  if (!isfinite(x)) return x - x;
  switch (quarter_of(x, rest)) {
  case 0: return __cos(rest[0], rest[1]);
  case 1: return -__sin(rest[0], rest[1], 1);
  case 2: return -__cos(rest[0], rest[1]);
  default: return __sin(rest[0], rest[1], 1);
  }
}

double tan(double x) {
  double rest[2];
  if (!isfinite(x)) return x - x;
  int quarter = quarter_of(x, rest);
  return __tan(rest[0], rest[1], quarter & 1);
}

void sincos(double x, double *sine, double *cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}

float sinf(float x) { return (float)sin(x); }
float cosf(float x) { return (float)cos(x); }
float tanf(float x) { return (float)tan(x); }

void sincosf(float x, float *sine, float *cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
