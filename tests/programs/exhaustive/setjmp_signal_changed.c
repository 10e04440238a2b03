// a local variable that is changed before a signal handler jumps out
#include "exhaustive.h"
#include <signal.h>

static sigjmp_buf place;
static void handler(int number) { siglongjmp(place, number != 0); }

static long test(const unsigned char *in) {
  int x = 1;
  signal(SIGUSR1, handler);
  if (sigsetjmp(place, 1) == 0) {
    x += in[0] / 8;
    raise(SIGUSR1);
  }
  return x;
}
