// vectors of floats
#include "exhaustive.h"
typedef float v4 __attribute__((vector_size(16)));
typedef int i4 __attribute__((vector_size(16)));
static long test(const unsigned char *in) {
  float k = (signed char)in[0];
  v4 a = {k, k * 2, -k, k / 3}, b = {1, k, 0.5f, k * k}; v4 s = a * b + a, q = a / b; i4 m = a < b; i4 c = __builtin_convertvector(a, i4);
  v4 sh = __builtin_shufflevector(s, q, 0, 5, 2, 7);
  long r = 0; for (int i = 0; i < 4; i++) { uint32_t u; float t = sh[i]; memcpy(&u, &t, 4); r = r * 31 + u + m[i] * 7 + c[i]; }
  return r;
}
