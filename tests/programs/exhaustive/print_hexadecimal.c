// snprintf that cuts
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char text[8] = "";
  int length = snprintf(text, 4, "%#x", in[0]);
  return length * 64 + text[2];
}
