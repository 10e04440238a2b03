// strncat that just fits, and one that does not
// BUG out-of-bounds-write
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char *b = malloc(6);
  strcpy(b, "ab");
  strncat(b, "xyzuvw", in[0] & 7);
  return strlen(b);
}
