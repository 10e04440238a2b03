// sscanf with %i, %x and %o
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char s[4] = {'0', (char)in[0], '7', 0};
  int i = -1;
  unsigned x = 99, o = 99;
  int a = sscanf(s, "%i", &i), b = sscanf(s, "%x", &x), c = sscanf(s, "%o", &o);
  return a + b * 2 + c * 4 + i * 8 + (long)x * 3 + (long)o * 5;
}
