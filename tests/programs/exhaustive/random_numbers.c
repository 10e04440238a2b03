// srand, rand, rand_r, random and lrand48 with a symbolic seed
#define _GNU_SOURCE
#include "exhaustive.h"

static long test(const unsigned char *in) {
  unsigned seed = in[0];
  srand(in[0]);
  srandom(in[0] & 7);
  srand48(in[0]);
  return rand_r(&seed) ^ rand() >> 8 ^ random() ^ lrand48() >> 4;
}
