// case labels within a loop within a switch
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int n = 0, k = in[0];
  switch (k & 3) {
    for (; k > 0; k -= 50) {
    case 0: n++;
    case 1: n += 2;
    default: n += 4;
    }
  }
  return n;
}
