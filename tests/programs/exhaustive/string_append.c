// strcat and strncat after a symbolic end
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[12] = {'a', (char)in[0], 'c', 0};
  strcat(s, "de");
  strncat(s, "fgh", in[0] & 3);
  return (long)strlen(s) * 16 + s[1] + s[2];
}
