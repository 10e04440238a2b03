// atexit handlers in order, one of which changes the status
#include "exhaustive.h"
#include <unistd.h>

static int value;
static void last(void) {
  if (value % 3 == 1) _exit(11);
  if (value & 64) _exit(12);
  _exit(13);
}
static void first(void) { value ^= 85; }

static long test(const unsigned char *in) {
  value = in[0];
  atexit(last);
  if (in[0] & 1) atexit(first);
  exit(3);
}
