// strdup
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char text[3] = {(char)in[0], 'x', 0}, *copy = strdup(text);
  long result = (long)strlen(copy) * 64 + (copy[0] == 'q');
  free(copy);
  return result;
}
