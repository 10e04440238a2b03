// frexp, ldexp, scalbn, ilogb, logb, modf
#include "exhaustive.h"
#include <math.h>
static long test(const unsigned char *in) {
  union { uint64_t u; double f; } a = {(uint64_t)in[0] << 56 | (uint64_t)in[0] << 47 | in[0]};
  int e = 0; double whole = 0;
  union { uint64_t u; double f; } m, l, f;
  m.f = frexp(a.f, &e); l.f = ldexp(m.f, e - 3); f.f = modf(a.f, &whole);
  if (e == INT_MIN) e = 0;
  int g = ilogb(a.f);
  return m.u ^ l.u * 3 ^ (uint64_t)e * 5 ^ (uint64_t)g * 17 ^ f.u * 7;
}
