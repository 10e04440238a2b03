// setenv, unsetenv and getenv of a symbolic name
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char name[3] = {(char)in[0], 'Q', 0};
  if (setenv(name, "v", 1)) return 9;
  unsetenv("AQ");
  return getenv(name) ? 1 : 2;
}
