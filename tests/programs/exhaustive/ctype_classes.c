// classes of characters
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int c = in[0];
  return !!isalpha(c) + 2 * !!isdigit(c) + 4 * !!isspace(c) + 8 * !!isupper(c) + 16 * !!ispunct(c) + 32 * !!isxdigit(c) + 64 * !!iscntrl(c);
}
