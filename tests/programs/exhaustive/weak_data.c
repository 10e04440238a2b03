// weak variables: one that is defined and one that is not
#include "exhaustive.h"

extern int absent __attribute__((weak));
int present __attribute__((weak)) = 5;

static long test(const unsigned char *in) {
  return (&absent ? 1 : 2) * 10 + present + (in[0] & 1 ? present : 0);
}
