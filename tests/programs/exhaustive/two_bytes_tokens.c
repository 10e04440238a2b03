// strtok over two symbolic bytes
#define BYTES 2
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[5] = {'a', (char)in[0], 'b', (char)in[1], 0};
  long n = 0;
  for (char *t = strtok(s, " \t"); t; t = strtok(0, " \t")) n = n * 5 + (long)strlen(t);
  return n;
}
