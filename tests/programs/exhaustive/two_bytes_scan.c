// sscanf of two symbolic digits
#define BYTES 2
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char s[3] = {(char)in[0], (char)in[1], 0};
  unsigned n = 100;
  int read = sscanf(s, "%2u", &n);
  return read == 1 ? (long)n : read == 0 ? 150 : 200;
}
