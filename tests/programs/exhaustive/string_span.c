// strspn and strcspn
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[3] = {(char)in[0], '5', 0};
  return (long)(strspn(s, "0123456789") * 4 + strcspn(s, " ,"));
}
