// a string of two inputs
#define BYTES 2
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[3] = {(char)in[0], (char)in[1], 0};
  return strcmp(s, "ok") == 0 ? 1 : strlen(s) == 2 ? 2 : 3;
}
