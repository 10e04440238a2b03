// switch that falls through
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = 0;
  switch (in[0] & 3) { case 0: n++; case 1: n += 2; case 2: n += 4; default: n += 8; } return n;
}
