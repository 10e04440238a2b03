// abort with a handler that jumps, one that returns, a signal that is ignored or blocked
#include "exhaustive.h"
#include <signal.h>

static jmp_buf place;
static void jumps(int number) { longjmp(place, number); }
static void ends(int number) { _Exit(number == SIGABRT ? 60 : 61); }
static void returns(int number) { (void)number; }

static long test(const unsigned char *in) {
  void (*const handlers[])(int) = {jumps, ends, returns, SIG_IGN};
  signal(SIGABRT, handlers[in[0] & 3]);
  if (in[0] & 4) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGABRT);
    sigprocmask(SIG_BLOCK, &set, 0);
  }
  int number = setjmp(place);
  if (number) return number + in[0] % 5;
  if (in[0] < 200) abort();
  return 2;
}
