// longjmp with a symbolic value, zero included, and a volatile local
#include "exhaustive.h"

static jmp_buf place;

static long test(const unsigned char *in) {
  volatile int rounds = 0;
  int value = setjmp(place);
  rounds++;
  if (rounds < 3) longjmp(place, in[0] & 3);
  return value * 10 + rounds;
}
