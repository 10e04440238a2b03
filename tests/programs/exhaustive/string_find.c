// strstr
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[4] = {'a', (char)in[0], 'c', 0};
  char *f = strstr(s, "bc");
  return f ? f - s : 9;
}
