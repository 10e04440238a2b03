// %c of a null character and %% in a buffer
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char to[8];
  memset(to, 'z', sizeof to);
  int n = snprintf(to, sizeof to, "%c%%%c", in[0], in[0] ^ 1);
  return n + (int)strlen(to) * 8 + (unsigned char)to[n];
}
