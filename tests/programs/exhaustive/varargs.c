// variadic functions
#include "exhaustive.h"

static int sum(int n, ...) { va_list l; va_start(l, n); int s = 0; while (n--) s = s * 2 + va_arg(l, int); va_end(l); return s; }

static long test(const unsigned char *in) {
  return sum(in[0] & 7, 1, 2, 3, 4, 5, 6, (int)in[0]);
}
