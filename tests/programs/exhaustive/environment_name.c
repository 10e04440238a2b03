// setenv and getenv with a symbolic name
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char n[4] = "A=B";
  n[1] = in[0];
  int r = setenv(n, "v", 1);
  char *g = getenv("A");
  return (r != 0) + 2 * (g != 0) + 4 * (getenv(n) != 0);
}
