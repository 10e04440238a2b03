// strtoul of a sign
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[3] = {(char)in[0], '9', 0};
  return (long)strtoul(s, 0, 10);
}
