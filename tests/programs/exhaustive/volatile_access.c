// volatile variables
#include "exhaustive.h"

static long test(const unsigned char *in) {
  volatile int x = in[0];
  x++;
  x = x * 2;
  return x;
}
