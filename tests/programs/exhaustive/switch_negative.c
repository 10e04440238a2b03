// switch over negative values
#include "exhaustive.h"

static long test(const unsigned char *in) {
  switch ((signed char)in[0]) { case -128: return 1; case -1: return 2; case 127: return 3; } return 0;
}
