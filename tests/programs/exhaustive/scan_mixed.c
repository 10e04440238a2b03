// sscanf with %i of two characters and %n
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char text[4] = {(char)in[0], '7', 'g', 0};
  int value = -3, length = 0;
  int found = sscanf(text, "%2i%n", &value, &length);
  return found * 64 + length * 16 + value;
}
