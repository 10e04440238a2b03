// an undefined weak function
#include "exhaustive.h"

__attribute__((weak)) int hook(int);

static long test(const unsigned char *in) {
  if (hook) return 1;
  return in[0] == 5 ? hook(1) : 3;
}
