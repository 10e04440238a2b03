// a variable that one path leaves unwritten
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x;
  if (in[0] & 1) x = in[0];
  return in[0] & 1 ? x : 7;
}
