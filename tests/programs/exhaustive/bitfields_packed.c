// bit-fields that share bytes
#include "exhaustive.h"

static long test(const unsigned char *in) {
  struct __attribute__((packed)) { unsigned a : 7, b : 11, c : 6; } s = {1, 2, 3};
  s.b += in[0];
  s.a -= in[0];
  return s.a + s.b * 8 + s.c;
}
