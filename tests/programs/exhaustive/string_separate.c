// strsep with a symbolic character in the text
#define _GNU_SOURCE
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char text[5] = {'a', (char)in[0], 'b', 0}, *rest = text;
  char *token = strsep(&rest, ",;");
  return (rest ? rest - text : 9) * 4 + token[0];
}
