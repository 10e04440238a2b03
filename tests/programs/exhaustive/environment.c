// getenv and setenv with a symbolic name
// BUG use-after-free
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char name[2] = {'A' + (in[0] & 3), 0};
  setenv("B", "two", 1);
  setenv("C", "", 1);
  char *v = getenv(name);
  if (in[0] & 4) unsetenv("B");
  char *w = getenv("B");
  return (v ? (long)strlen(v) : 7) * 10 + (w ? w[0] : 1);
}
