// sprintf of a number
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char text[8];
  int length = sprintf(text, "%d", (signed char)in[0]);
  return length * 64 + text[0];
}
