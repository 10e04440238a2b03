// toupper and tolower
#include "exhaustive.h"

static long test(const unsigned char *in) {
  return toupper(in[0]) * 2 + tolower(in[0]);
}
