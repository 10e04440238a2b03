// pointers that move
#include "exhaustive.h"

static long test(const unsigned char *in) {
  static const char text[] = "partita";
  const char *s = text;
  for (int i = 0; i < (in[0] & 7); i++) if (*s) s++;
  return *s;
}
