// snprintf of a text with a precision
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char text[3] = {(char)in[0], 'b', 0}, to[8] = "";
  return snprintf(to, sizeof to, "<%.*s>", in[0] & 1, text) + to[1];
}
