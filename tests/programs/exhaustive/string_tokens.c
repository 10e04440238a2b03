// strtok
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[4] = {'a', (char)in[0], 'b', 0};
  int n = 0;
  for (char *t = strtok(s, ",;"); t; t = strtok(0, ",;")) n = n * 4 + (int)strlen(t);
  return n;
}
