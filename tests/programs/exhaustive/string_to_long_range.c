// strtol past the range of int, with a symbolic base
#include "exhaustive.h"
#include <errno.h>

static long test(const unsigned char *in) {
  char text[12] = "2147483648z", *end = text;
  text[9] = (char)in[0];
  errno = 0;
  long value = strtol(text, &end, in[0] & 63);
  return errno + (end - text) * 2 + (value >> 8);
}
