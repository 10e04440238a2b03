// conversions at the ends of integer types
#include "exhaustive.h"
static long test(const unsigned char *in) {
  signed char k = in[0];
  double big = 9223372036854775807.0 - 1024.0 * (k & 63) * 2; 
  if (big >= 9223372036854775808.0) return 77;
  long a = (long)big; 
  float uf = (float)(0xffffffffffffffffull - ((uint64_t)in[0] << 32));
  double ud = (double)(0xffffffffffffff00ull + in[0]);
  float sf = (float)(INT_MAX - in[0]); float nf = (float)(long)(INT64_MIN + in[0] * 0x1000000001l);
  uint32_t ui = (uint32_t)(4294967295.0 - in[0]);
  uint64_t ul = (uint64_t)(ud - 4096.0 - 2048.0 * in[0]);
  uint32_t b, c, d; uint64_t e; memcpy(&b, &uf, 4); memcpy(&c, &sf, 4); memcpy(&d, &nf, 4); memcpy(&e, &ud, 8);
  return a ^ b * 3ul ^ c * 5ul ^ d * 7ul ^ e ^ ui * 9ul ^ ul;
}
