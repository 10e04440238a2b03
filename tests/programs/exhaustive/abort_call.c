// abort
#include "exhaustive.h"

static long test(const unsigned char *in) {
  if (in[0] % 50 == 49) abort();
  return 2;
}
