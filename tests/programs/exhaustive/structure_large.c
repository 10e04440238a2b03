// large structures by value
#include "exhaustive.h"

struct large { int v[16]; };
static struct large change(struct large l) { l.v[3] += 5; return l; }

static long test(const unsigned char *in) {
  struct large l = {{0}};
  l.v[in[0] & 15] = in[0];
  l = change(l);
  return l.v[3] + l.v[in[0] >> 4];
}
