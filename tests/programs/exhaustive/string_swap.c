// swab of a symbolic number of bytes
#define _GNU_SOURCE
#include "exhaustive.h"
#include <unistd.h>

static long test(const unsigned char *in) {
  char from[4] = {(char)in[0], 2, 3, 4}, to[4] = {0};
  swab(from, to, (in[0] & 3) + 1);
  return to[0] + to[1];
}
