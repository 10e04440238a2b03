/* Numbers from text and back, and mathematics. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  static const char *const texts[] = {"0", "42", "-42", "+7", "  12abc", "0x1F", "0X", "0777", "09", "zz", "-0x10", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "", "-", "1e5", "99999999999999999999999"};
  static const int bases[] = {0, 2, 8, 10, 16, 36};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    for (size_t j = 0; j < sizeof bases / sizeof *bases; j++) {
      char *end, *end2;
      errno = 0;
      long value = strtol(texts[i], &end, bases[j]);
      int error = errno;
      errno = 0;
      unsigned long other = strtoul(texts[i], &end2, bases[j]);
      printf("%s %d: %ld %d %d, %lu %d %d\n", texts[i], bases[j], value, (int)(end - texts[i]), error, other, (int)(end2 - texts[i]), errno);
    }
    printf("%d %ld %lld %jd\n", atoi(texts[i]), atol(texts[i]), strtoll(texts[i], NULL, 10), strtoimax(texts[i], NULL, 10));
  }
  static const char *const reals[] = {"0", "1", "-1.5", "3.14159", "1e10", "1e-10", ".5", "5.", "1e400", "1e-400", "inf", "-infinity", "nan", "nan(12)", "0x1.8p3", "0x.1", "1e", "e1", "  2.5xyz", "2.2250738585072011e-308", "123456789012345678901234567890", "0.1", "4.9e-324"};
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    char *end;
    errno = 0;
    double d = strtod(reals[i], &end);
    printf("%s: %.17g %a %d %d ", reals[i], d, d, (int)(end - reals[i]), errno);
    printf("%.9g %.20Lg\n", strtof(reals[i], NULL), strtold(reals[i], NULL));
  }
  static const double points[] = {0.0, 0.5, 1.0, -1.0, 2.0, 10.0, -3.7, 1e-3, 12345.678};
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    double x = points[i];
    int exponent;
    double whole;
    printf("%.12g %.12g %.12g %.12g %.12g %.12g\n", sqrt(fabs(x)), exp(x / 100), log(fabs(x) + 1), sin(x), cos(x), atan2(x, 2));
    printf("%.12g %.12g %g %g %g %g %g\n", pow(fabs(x), 1.5), cbrt(x), floor(x), ceil(x), trunc(x), round(x), rint(x));
    printf("%.12g %d %g %g %ld\n", frexp(x, &exponent), exponent, modf(x, &whole), whole, lrint(x));
    printf("%.12g %g %.18Lg %.18Lg\n", fmod(x, 0.7), ldexp(x, 5), sqrtl(fabsl((long double)x)), fmodl((long double)x, 0.7L));
  }
  div_t q = div(-17, 5);
  ldiv_t r = ldiv(17, -5);
  printf("%d %d %ld %ld %d %ld\n", q.quot, q.rem, r.quot, r.rem, abs(-3), labs(-4));
  srand(1);
  srandom(1);
  srand48(1);
  for (int i = 0; i < 5; i++) printf("%d %ld %.6f\n", rand(), random(), drand48());
  return 0;
}
