// bytes joined to a word
#define BYTES 2
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned short w;
  memcpy(&w, in, 2);
  return w == 0xbeef ? 1 : w > 40000 ? 2 : w % 5 == 0 ? 3 : 4;
}
