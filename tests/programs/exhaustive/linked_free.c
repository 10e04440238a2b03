// a list that is freed, and used afterwards on one path
// BUG use-after-free
#include "exhaustive.h"

struct n { struct n *next; int v; };

static long test(const unsigned char *in) {
  struct n *h = 0;
  for (int i = 0; i < 3; i++) {
    struct n *x = malloc(sizeof *x);
    x->next = h;
    x->v = i;
    h = x;
  }
  int s = 0;
  struct n *p = h;
  while (p) {
    s += p->v;
    struct n *next = p->next;
    free(p);
    if (in[0] == 5) s += p->v;
    p = next;
  }
  return s;
}
