// a copy past the size that the compiler knows
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char from[8] = "abcdefg", to[8] = "";
  __builtin___memcpy_chk(to, from, in[0] & 7, 5);
  return to[3];
}
