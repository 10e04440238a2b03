// variadic arguments of every class, more than registers hold
#include "exhaustive.h"

static long gather(const char *kinds, ...) {
  va_list l;
  va_start(l, kinds);
  long sum = 0;
  for (; *kinds; kinds++)
    switch (*kinds) {
    case 'd': sum = sum * 3 + (long)(va_arg(l, double) * 4); break;
    case 'l': sum = sum * 3 + va_arg(l, long); break;
    default: sum = sum * 3 + va_arg(l, int);
    }
  va_end(l);
  return sum;
}

static long test(const unsigned char *in) {
  return gather("idlicdidlid", in[0], 1.5, 70000000000L, 3, 'x', 2.25, -4, 0.5, 5L, 6, 7.0);
}
