// switch with distant cases and ranges
#include "exhaustive.h"

static long test(const unsigned char *in) {
  switch (in[0]) { case 7: return 1; case 100 ... 120: return 2; case 255: return 3; } return 4;
}
