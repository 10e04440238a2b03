// memcmp and strncmp with symbolic lengths
#include "exhaustive.h"
#include <strings.h>

static long test(const unsigned char *in) {
  const char a[] = "abcdXf", b[] = "abcdYf";
  int n = in[0] & 7;
  int m = memcmp(a, b, n), s = strncmp(a, b, in[0] >> 3 & 7), c = strncasecmp("ABCDxf", a, in[0] >> 5);
  return (m > 0) - (m < 0) + 3 * ((s > 0) - (s < 0)) + 9 * ((c > 0) - (c < 0)) + 20;
}
