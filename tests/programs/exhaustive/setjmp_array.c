// longjmp releases arrays of variable length that were made since setjmp
#include "exhaustive.h"

static jmp_buf place;

static long test(const unsigned char *in) {
  volatile int round = 0;
  int first[in[0] % 3 + 1];
  first[in[0] % 3] = 5;
  setjmp(place);
  int n = 100000 + in[0] % 3;
  char text[n];
  text[n - 1] = round;
  if (++round < 100) longjmp(place, 1);
  return text[n - 1] + first[in[0] % 3];
}
