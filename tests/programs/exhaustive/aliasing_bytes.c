// a word written through characters and read through an other type
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int v[2] = {0x01020304, 0x05060708};
  unsigned char *p = (unsigned char *)v + (in[0] & 3);
  *p = in[0];
  short s;
  memcpy(&s, (char *)v + (in[0] >> 2 & 3), 2);
  return v[0] ^ s;
}
