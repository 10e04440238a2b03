/* Replaces musl's strtod.c. Texts of few digits are converted with one operation: their digits as a whole number and the
   power of ten are exact, so that a product or quotient of them is rounded correctly, in every rounding mode (W. Clinger,
   How to read floating point numbers accurately, 1990). On symbolic digits that is one expression on one path per form of
   the text. All others are converted by musl's `__floatscan`: hexadecimal digits, infinity, NaN, long texts, large
   exponents, no number at all. */
#include <stdlib.h>
#include "floatscan.h"
#include "shgetc.h"
#include "stdio_impl.h"

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A decimal number: mantissa * 10^exponent. `end` is null if it has another form or more than `most` digits. */
struct decimal {
  const char *end;
  int negative;
  long long mantissa;
  int exponent;
};

static int is_digit(char c) { return (unsigned char)(c - '0') < 10; }

static struct decimal scan(const char *s, int most) {
  struct decimal found = {0};
  int digits = 0;
  while (*s == ' ' || (unsigned char)(*s - '\t') < 5) s++;
  found.negative = *s == '-';
  if (*s == '-' || *s == '+') s++;
  for (; is_digit(*s); s++, digits++) {
    if (digits == most) return found;
    found.mantissa = 10 * found.mantissa + (*s - '0');
  }
  if (*s == 'x' || *s == 'X') return found;
  if (*s == '.')
    for (s++; is_digit(*s); s++, digits++) {
      if (digits == most) return found;
      found.mantissa = 10 * found.mantissa + (*s - '0');
      found.exponent--;
    }
  if (!digits) return found;
  if (*s == 'e' || *s == 'E') {
    const char *e = s + 1;
    int negative = *e == '-', exponent = 0, length = 0;
    if (*e == '-' || *e == '+') e++;
    for (; is_digit(*e); e++, length++) {
      if (length == 3) return found;
      exponent = 10 * exponent + (*e - '0');
    }
    /* Without digits the letter does not belong to the number. */
    if (length) {
      s = e;
      found.exponent += negative ? -exponent : exponent;
    }
  }
  found.end = s;
  return found;
}

static long double slowly(const char *s, char **end, int precision) {
  FILE text = {0};
  sh_fromstring(&text, s);
  shlim(&text, 0);
  long double value = __floatscan(&text, precision, 1);
  if (end) *end = (char *)s + shcnt(&text);
  return value;
}

double strtod(const char *restrict s, char **restrict end) {
  struct decimal found = scan(s, 15);
  if (!found.end || found.exponent < -22 || found.exponent > 22) return slowly(s, end, 1);
  if (end) *end = (char *)found.end;
  double value = found.negative ? -(double)found.mantissa : (double)found.mantissa;
  return found.exponent < 0 ? value / powers[-found.exponent] : value * powers[found.exponent];
}

float strtof(const char *restrict s, char **restrict end) {
  struct decimal found = scan(s, 7);
  if (!found.end || found.exponent < -10 || found.exponent > 10) return slowly(s, end, 0);
  if (end) *end = (char *)found.end;
  float value = found.negative ? -(float)found.mantissa : (float)found.mantissa;
  return found.exponent < 0 ? value / (float)powers[-found.exponent] : value * (float)powers[found.exponent];
}

long double strtold(const char *restrict s, char **restrict end) { return slowly(s, end, 2); }
