// memmem and strcasecmp over two symbolic bytes
#define BYTES 2
#include "exhaustive.h"
#include <strings.h>

static long test(const unsigned char *in) {
  char what[3] = {(char)in[0], (char)in[1], 0};
  char *p = memmem("abcabd", 6, what, 2);
  return (p != 0) + (strcasecmp(what, "Hi") == 0) * 2 + (strncasecmp(what, "HELLO", 1) == 0) * 4;
}
