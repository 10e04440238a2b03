// strstr with symbolic text and symbolic pattern, the empty pattern included
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char text[5] = {'a', (char)in[0], 'a', 'b', 0}, what[3] = {(char)in[0], 'b', 0};
  char *p = strstr(text, what), *q = strstr("xaby", what);
  return (p ? p - text : 7) * 8 + (q ? 1 : 0);
}
