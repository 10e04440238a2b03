// a union that is read through a common first member, and copies of padding
#include "exhaustive.h"

static long test(const unsigned char *in) {
  union shape { struct { char kind; short r; } a; struct { char kind; char w, h; } b; } u, v;
  memset(&u, 0, sizeof u);
  u.a.kind = in[0] & 1;
  u.a.r = (short)(in[0] * 257);
  v = u;
  return v.b.kind ? v.b.h : v.a.r + (memcmp(&u, &v, sizeof u) ? 1 : 0);
}
