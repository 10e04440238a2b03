// a loop that may jump over the end of an array
// BUG out-of-bounds-read
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int a[4] = {1, 2, 3, 4};
  int *end = a + 4, *p = a;
  int s = 0;
  while (p != end) {
    s += *p;
    p += 1 + (in[0] == 200) * 2;
  }
  return s;
}
