/* printf and scanf: integers, text, floating point in every conversion, width and precision. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

static void line(const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  int n = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  printf("%3d |%s|\n", n, text);
}

int main(void) {
  static const char *const whole[] = {"%d", "%5d", "%-5d", "%05d", "%+d", "% d", "%.3d", "%8.3d", "%-8.3d", "%x", "%#x", "%#o", "%X", "%u", "%i"};
  static const int numbers[] = {0, 1, -1, 42, -4242, INT_MAX, INT_MIN};
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) line(whole[i], numbers[j]);
  static const char *const real[] = {"%f", "%.0f", "%.1f", "%10.3f", "%-10.2f|", "%e", "%.0e", "%.10e", "%g", "%.3g", "%#g", "%G", "%a", "%.2a", "%+.1f", "% f", "%015.4f", "%.17g"};
  const double reals[] = {0.0, -0.0, 1.0, -1.5, 0.1, 123456789.125, 1e-5, 1e100, 9.995, 0.5, 2.5, DBL_MAX, DBL_MIN, 5e-324, INFINITY, -INFINITY, NAN, 3.14159265358979};
  for (size_t i = 0; i < sizeof real / sizeof *real; i++)
    for (size_t j = 0; j < sizeof reals / sizeof *reals; j++) line(real[i], reals[j]);
  line("%Lf %Le %Lg %La", 1.25L, 1e300L, LDBL_MIN, 0.1L);
  line("%hhd %hd %ld %lld %jd %zd %td", 300, 70000, LONG_MIN, LLONG_MAX, (intmax_t)-5, (size_t)7, (ptrdiff_t)-9);
  line("%c%c %s %10s %-10s| %.2s %%", 'x', 0, "text", "right", "left", "cut");
  line("%*d %-*d %.*f", 6, 42, 6, 42, 2, 2.71828);
  line("%2$s %1$d", 5, "positional");
  line("%ls %lc", L"wide", (wint_t)'w');
  line("%p %p", (void *)0, (void *)0x1234);
  int count;
  line("abc%n def", &count);
  line("%d", count);
  int a, b, c;
  char word[16], set[16];
  float f;
  double d;
  long double l;
  printf("%d\n", sscanf("12 -34 0x1f rest 1.5 2.5e3 -0.125 key=value", "%d %d %i %15s %f %lf %Lf %15[a-z]=", &a, &b, &c, word, &f, &d, &l, set));
  printf("%d %d %d %s %g %g %Lg %s\n", a, b, c, word, f, d, l, set);
  printf("%d ", sscanf("99 bottles", "%*d %3c%n", word, &count));
  printf("%.3s %d\n", word, count);
  printf("%d\n", sscanf("x", "%d", &a));
  printf("%d\n", sscanf("", "%d", &a));
  char small[5];
  printf("%d %s\n", snprintf(small, sizeof small, "too long"), small);
  return 0;
}
