// strverscmp with a symbolic character
#define _GNU_SOURCE
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char text[3] = {'a', (char)in[0], 0};
  return strverscmp(text, "a1") > 0;
}
