// variadic arguments of several types
#include "exhaustive.h"

static long mix(int n, ...) { va_list l; va_start(l, n); long r = n > 0 ? va_arg(l, long) : 1; if (n > 1) r += (long)(va_arg(l, double) * 2); if (n > 2) r += va_arg(l, int); va_end(l); return r; }

static long test(const unsigned char *in) {
  return mix(in[0] & 3, 7L, 2.5, (int)in[0]);
}
