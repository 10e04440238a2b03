// half precision
#include "exhaustive.h"
static long test(const unsigned char *in) {
  uint16_t w = in[0] << 8 | in[0]; _Float16 h; memcpy(&h, &w, 2);
  _Float16 s = h + (_Float16)0.1f, p = h * h, q = (_Float16)1 / h;
  float f = h; double d = f * 1.0003; _Float16 t = (_Float16)d;
  uint16_t a, b, c, e; memcpy(&a, &s, 2); memcpy(&b, &p, 2); memcpy(&c, &q, 2); memcpy(&e, &t, 2);
  return a ^ b * 3ul ^ c * 5ul ^ e * 7ul ^ (h < s) ^ (p != p) * 2;
}
