// alloca in a loop: the blocks live until the function returns
#include "exhaustive.h"
#include <alloca.h>

static long test(const unsigned char *in) {
  char *last = 0;
  for (int i = 0; i < (in[0] & 7); i++) {
    char *next = alloca(sizeof last);
    *(char **)next = last;
    last = next;
  }
  int count = 0;
  for (; last; last = *(char **)last) count++;
  return count;
}
