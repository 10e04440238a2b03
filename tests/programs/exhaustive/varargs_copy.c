// va_copy
#include "exhaustive.h"

static int both(int n, ...) { va_list a, b; va_start(a, n); va_copy(b, a); int s = va_arg(a, int) + va_arg(a, int); s = s * 3 + va_arg(b, int); va_end(a); va_end(b); return s; }

static long test(const unsigned char *in) {
  return both(3, 5, (int)in[0], 9);
}
