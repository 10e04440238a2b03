// memcpy with a symbolic length
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char a[8] = "abcdefg", b[8] = {0};
  memcpy(b, a, in[0] & 7);
  return (long)strlen(b) * 32 + b[3];
}
