// a null pointer on some inputs
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = 3, *p = in[0] == 9 ? 0 : &x;
  return *p;
}
