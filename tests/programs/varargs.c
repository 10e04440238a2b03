// varargs: integers, doubles, long doubles, structures and 128-bit integers through va_arg, twice through va_copy
// EXPECT: paths=2 bug=none
#include <stdarg.h>
#include "klee/klee.h"

struct pair { double d; long l; };
struct wide { long v[3]; };

static long gather(const char *kinds, ...) {
  va_list first, second;
  va_start(first, kinds);
  va_copy(second, first);
  long sum = 0;
  for (int pass = 0; pass < 2; pass++) {
    va_list *ap = pass ? &second : &first;
    for (const char *k = kinds; *k; k++) {
      if (*k == 'i')
        sum = sum * 3 + va_arg(*ap, int);
      else if (*k == 'd')
        sum = sum * 3 + (long)va_arg(*ap, double);
      else if (*k == 'L')
        sum = sum * 3 + (long)va_arg(*ap, long double);
      else if (*k == 'q')
        sum = sum * 3 + (long)(va_arg(*ap, __int128) >> 64);
      else if (*k == 'p') {
        struct pair p = va_arg(*ap, struct pair);
        sum = sum * 3 + (long)p.d + p.l;
      } else {
        struct wide w = va_arg(*ap, struct wide);
        sum = sum * 3 + w.v[0] + w.v[2];
      }
    }
  }
  va_end(second);
  va_end(first);
  return sum;
}

static long again(const char *kinds, int n, ...) {
  va_list ap;
  long sum = 0;
  va_start(ap, n);
  while (n--)
    sum = sum * 10 + va_arg(ap, int);
  va_end(ap);
  return sum;
}

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  struct pair p = {2.0, 5};
  struct wide w = {{1, 2, 3}};
  klee_assert(gather("iidLqpw", 1, 2, 3.5, 4.25L, (__int128)9 << 64, p, w) == 3658336);
  klee_assert(again("", 9, 1, 2, 3, 4, 5, 6, 7, 8, 9) == 123456789);
  long one = gather("i", n);
  if (one == 4 * 77)
    return 1;
  klee_assert(one == 4 * (long)n);
  return 0;
}
