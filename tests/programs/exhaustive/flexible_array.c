// flexible array members
#include "exhaustive.h"

static long test(const unsigned char *in) {
  struct s { int n; char d[]; } *s = malloc(sizeof *s + 8);
  s->n = in[0] & 7;
  memset(s->d, 1, 8);
  s->d[s->n] = 5;
  int r = 0;
  for (int i = 0; i < 8; i++) r = r * 2 + s->d[i];
  free(s);
  return r;
}
