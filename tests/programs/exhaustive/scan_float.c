// sscanf of a float with a symbolic character in the middle
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char text[4] = {'1', (char)in[0], '2', 0};
  float value = 1;
  int length = 0, found = sscanf(text, "%f%n", &value, &length);
  return found * 64 + length * 8 + (value > 5);
}
