// a pointer that is hidden by an exclusive or
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int a[4] = {1, 2, 3, 4};
  unsigned long key = 0x5555ul * in[0], hidden = (unsigned long)(a + (in[0] & 3)) ^ key;
  return *(int *)(hidden ^ key);
}
