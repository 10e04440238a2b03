// a pointer copied byte by byte and encoded
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = 5, y = 6;
  int *p = &x;
  unsigned char b[8];
  memcpy(b, &p, 8);
  if (in[0] & 1) {
    int *q = &y;
    memcpy(b, &q, 8);
  }
  for (int i = 0; i < 8; i++) b[i] ^= in[0];
  for (int i = 0; i < 8; i++) b[i] ^= in[0];
  int *r;
  memcpy(&r, b, 8);
  return *r;
}
