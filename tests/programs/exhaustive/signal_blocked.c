// a blocked signal is delivered when it is unblocked
#include "exhaustive.h"
#include <signal.h>

static volatile int seen;
static void handler(int number) { seen = number; }

static long test(const unsigned char *in) {
  int number = in[0] & 1 ? SIGUSR1 : SIGUSR2;
  sigset_t set;
  signal(number, handler);
  sigemptyset(&set);
  if (in[0] & 2) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, 0);
  raise(number);
  int before = seen;
  sigprocmask(SIG_UNBLOCK, &set, 0);
  return seen * 2 + before;
}
