// structures as arguments and results
#include "exhaustive.h"

struct pair { int a, b; };
static struct pair swap(struct pair p) { struct pair q = {p.b, p.a}; return q; }

static long test(const unsigned char *in) {
  struct pair p = {in[0], in[0] / 3};
  p = swap(p);
  return p.a * 3 - p.b;
}
