// zeros of both signs
#include "exhaustive.h"
#include <math.h>
static long test(const unsigned char *in) {
  float x = (float)(signed char)in[0] * 0.0f, y = (in[0] & 2) ? -0.0f : 0.0f;
  int r = 0;
  r |= signbit(x) != 0; r |= (signbit(x + y) != 0) << 1; r |= (signbit(x - y) != 0) << 2; r |= (signbit(x * y) != 0) << 3;
  r |= (1 / x < 0) << 4; r |= (signbit(sqrtf(x)) != 0) << 5; r |= (signbit(-x) != 0) << 6; r |= (copysignf(1, y) > 0) << 7;
  r ^= (signbit(fminf(x, y)) != 0) * 37; r ^= (signbit(floorf(x)) != 0) * 11; r ^= (x == y) * 5;
  return r;
}
