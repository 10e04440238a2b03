// a string function on text that ends only for some inputs
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[3] = {'a', (char)in[0], 'c'};
  char big[8] = "zzzzzzz";
  memcpy(big, s, 3);
  if (in[0] == 'q') big[7] = 'x', abort();
  return (long)strlen(big) + (long)strnlen(s, 3) * 16;
}
