// atoi
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[4] = {' ', (char)in[0], '4', 0};
  return atoi(s);
}
