// a signal that ends the program
#include "exhaustive.h"
#include <signal.h>

static long test(const unsigned char *in) {
  if (in[0] == 17) raise(SIGTERM);
  if (in[0] == 18) raise(SIGABRT);
  if (in[0] == 19) raise(SIGCHLD);
  return in[0] & 3;
}
