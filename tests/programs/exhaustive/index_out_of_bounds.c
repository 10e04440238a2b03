// an index that can leave its array
#include "exhaustive.h"

static long test(const unsigned char *in) {
  static volatile char t[4];
  if (in[0] > 200) abort();
  return t[in[0] & 3] + in[0];
}
