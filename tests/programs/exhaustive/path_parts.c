// basename and dirname with a symbolic character
#include "exhaustive.h"
#include <libgen.h>

static long test(const unsigned char *in) {
  char a[5] = "ab/c", b[5];
  a[in[0] & 3] = '/';
  a[1] = (char)in[0];
  memcpy(b, a, 5);
  return basename(a)[0] + dirname(b)[0] * 2;
}
