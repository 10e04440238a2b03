// quick_exit and at_quick_exit
#include "exhaustive.h"
#include <unistd.h>

static int value;
static void last(void) {
  if (value & 2) _exit(6);
}

static long test(const unsigned char *in) {
  value = in[0];
  at_quick_exit(last);
  if (in[0] > 100) quick_exit(4);
  return 9;
}
