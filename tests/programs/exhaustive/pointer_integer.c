// pointers as integers
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int a[4] = {1, 2, 3, 4};
  uintptr_t u = (uintptr_t)a + 4 * (in[0] & 3);
  return *(int *)u;
}
