// unions
#include "exhaustive.h"

static long test(const unsigned char *in) {
  union { unsigned word; unsigned char bytes[4]; short halves[2]; } u = {0x11223344};
  u.bytes[in[0] & 3] = in[0];
  return u.word + u.halves[1];
}
