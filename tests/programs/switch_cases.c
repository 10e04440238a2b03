// switch_cases: one path per distinct successor, fall-through, negative labels and a switch over 128 bits
// EXPECT: paths=6 bug=none
#include "klee/klee.h"

static int small(signed char c) {
  int r = 0;
  switch (c) {
  case -3:
    return -1;
  case 1:
  case 2:
  case 3:
    r = 10;
    break;
  case 40:
    r = 1;
    /* fall through */
  case 41:
    r += 2;
    break;
  default:
    r = 99;
  }
  return r;
}

static int wide(unsigned __int128 x) {
  switch (x) {
  case 5:
    return 1;
  case (unsigned __int128)1 << 100:
    return 2;
  }
  return 3;
}

int main(void) {
  signed char c;
  klee_make_symbolic(&c, sizeof c, "c");
  int r = small(c);
  if (r == 99)
    return wide((unsigned __int128)(unsigned char)c << 98);
  return r;
}
