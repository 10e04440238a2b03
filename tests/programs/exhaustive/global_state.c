// global variables
#include "exhaustive.h"

static int table[5] = {1, 2, 3, 4, 5}, total = 100;

static long test(const unsigned char *in) {
  table[in[0] % 5] = 9;
  total += table[2];
  return total;
}
