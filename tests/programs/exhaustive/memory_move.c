// memmove of overlapping bytes
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char a[10] = "012345678";
  memmove(a + (in[0] & 3), a + (in[0] >> 2 & 3), 4);
  int n = 0;
  for (int i = 0; i < 9; i++) n = n * 3 + a[i];
  return n;
}
