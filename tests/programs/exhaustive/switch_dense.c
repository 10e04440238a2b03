// switch with adjacent cases
#include "exhaustive.h"

static long test(const unsigned char *in) {
  switch (in[0]) { case 0: return 4; case 1: case 2: return 9; case 3: break; case 4: return 1; default: return 77; } return 5;
}
