// case ranges, a switch on a long and a switch over characters with sign
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char c = (char)in[0];
  long r = 0;
  switch (c) { case -128 ... -100: r = 1; break; case -3 ... 2: r = 2; break; case 'a' ... 'f': r = 3; }
  switch ((long)in[0] << 33) { case 5L << 33: r += 10; break; case 200L << 33: r += 20; break; }
  return r;
}
