// memcmp of structures
#include "exhaustive.h"

static long test(const unsigned char *in) {
  struct { unsigned char a, b; } x = {in[0], 5}, y = {77, 5};
  int r = memcmp(&x, &y, 2);
  return (r > 0) - (r < 0);
}
