// comma, increments and compound assignment
#include "exhaustive.h"

static long test(const unsigned char *in) {
  int x = in[0], y = x++;
  y += ++x, x -= y--;
  x *= 3;
  x ^= y;
  return x;
}
