// strlen
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[4] = {(char)in[0], 'b', (char)(in[0] & 1), 0};
  return (long)strlen(s);
}
