// status: 0 1 3
#include "klee/klee.h"
#include <signal.h>

static volatile int n;
static void handler(int s) {
  n++;
  raise(s);
}
int main(void) {
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  return n;
}
