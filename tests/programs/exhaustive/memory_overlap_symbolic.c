// memmove with symbolic offsets that overlap
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char b[12] = "0123456789a";
  memmove(b + (in[0] & 3), b + (in[0] >> 2 & 3), 4 + (in[0] >> 4 & 3));
  long h = 0;
  for (int i = 0; i < 12; i++) h = h * 7 + b[i];
  return h & 255;
}
