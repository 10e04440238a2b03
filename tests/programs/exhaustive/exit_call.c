// exit with a handler
#include "exhaustive.h"

static void handler(void) {}

static long test(const unsigned char *in) {
  atexit(handler);
  if (in[0] & 1) {
    if (in[0] & 2) exit(6);
    exit(4);
  }
  return in[0] & 8;
}
