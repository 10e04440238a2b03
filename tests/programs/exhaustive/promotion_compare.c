// comparison of signed with unsigned
#include "exhaustive.h"

static long test(const unsigned char *in) {
  signed char c = (signed char)in[0];
  return (c < 5u) + 2 * (c < 5) + 4 * ((unsigned char)c == c);
}
