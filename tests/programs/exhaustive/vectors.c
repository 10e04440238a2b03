// vector types
#include "exhaustive.h"

static long test(const unsigned char *in) {
  typedef int v4 __attribute__((vector_size(16)));
  v4 a = {in[0], 2, 3, 4}, b = a * a + 1;
  return b[in[0] & 3] + (a > 2)[0];
}
