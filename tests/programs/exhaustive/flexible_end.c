// an index past a flexible array member
// BUG out-of-bounds-read
#include "exhaustive.h"

struct f { unsigned char n; unsigned char d[]; };

static long test(const unsigned char *in) {
  struct f *p = malloc(sizeof *p + (in[0] & 3));
  p->n = in[0] & 3;
  for (int i = 0; i < p->n; i++) p->d[i] = i;
  return p->d[in[0] >> 6] + 1;
}
