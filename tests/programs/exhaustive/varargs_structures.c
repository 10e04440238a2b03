// variadic arguments that are structures and long double
#include "exhaustive.h"

struct small { char a, b; };
struct large { long v[3]; };
static long take(int n, ...) {
  va_list l;
  va_start(l, n);
  struct small s = va_arg(l, struct small);
  long double x = va_arg(l, long double);
  struct large g = va_arg(l, struct large);
  int last = va_arg(l, int);
  va_end(l);
  return s.a * 2 + s.b + (long)(x * 2) + g.v[1] * 3 + g.v[2] + last;
}

static long test(const unsigned char *in) {
  struct small s = {in[0], 2};
  struct large g = {{1, in[0], 3}};
  return take(3, s, 1.5L, g, 4);
}
