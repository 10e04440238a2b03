// signal handlers that raise runs at once
#include "exhaustive.h"
#include <signal.h>

static volatile sig_atomic_t seen;
static void handler(int number) { seen += number; }

static long test(const unsigned char *in) {
  signal(SIGUSR1, handler);
  if (in[0] & 1) raise(SIGUSR1);
  if ((in[0] & 6) == 2) signal(SIGUSR1, SIG_IGN), raise(SIGUSR1);
  return seen * 10 + (in[0] >> 3);
}
