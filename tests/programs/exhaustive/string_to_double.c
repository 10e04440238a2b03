// strtod of text with a symbolic character, and where it ends
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char text[5] = {'1', (char)in[0], '5', '2', 0}, *end;
  double d = strtod(text, &end);
  return (end - text) * 16 + (d > 100) + 2 * (d > 10) + 4 * (d < 2);
}
