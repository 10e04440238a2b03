// NaN operands keep their bits: the first operand, made quiet
#include "exhaustive.h"
static long test(const unsigned char *in) {
  union { uint32_t u; float f; } a = {0x7f800000u | in[0] << 16 | (in[0] & 1)}, b = {0xff800001u + in[0] * 3}, s, p, q, d;
  s.f = a.f + b.f; p.f = b.f * a.f; q.f = a.f / 2; d.f = 1.0f - b.f;
  union { uint64_t u; double f; } w = {0}; w.f = a.f; 
  return s.u ^ p.u * 3 ^ q.u * 5 ^ d.u * 7 ^ w.u;
}
