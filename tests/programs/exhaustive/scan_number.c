// sscanf of a number and the text after it
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char s[4] = {'4', (char)in[0], '7', 0};
  int n = -1;
  char rest = '-';
  int read = sscanf(s, "%d%c", &n, &rest);
  return read * 1000 + n * 3 + rest;
}
