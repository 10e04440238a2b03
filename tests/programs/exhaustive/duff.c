// a loop that is entered in its middle
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = (in[0] & 15) + 1, count = 0, rounds = (n + 3) / 4;
  switch (n % 4) {
  case 0: do { count++;
  case 3: count++;
  case 2: count++;
  case 1: count++;
          } while (--rounds > 0);
  }
  return count * 10 + rounds;
}
