// a signal that is ignored or handled, with a symbolic number
#include "exhaustive.h"
#include <signal.h>

static int seen;
static void handler(int number) { seen += number; }

static long test(const unsigned char *in) {
  int number = in[0] & 1 ? SIGUSR1 : in[0] & 2 ? SIGUSR2 : SIGWINCH;
  signal(SIGUSR1, handler);
  signal(SIGUSR2, SIG_IGN);
  int failed = raise(number);
  return seen * 2 + (failed != 0);
}
