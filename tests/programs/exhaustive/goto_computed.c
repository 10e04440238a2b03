// computed goto
#include "exhaustive.h"

static long test(const unsigned char *in) {
  static void *const labels[] = {&&a, &&b, &&c};
  goto *labels[in[0] % 3];
  a: return 1;
  b: return in[0] & 2;
  c: return 9;
}
