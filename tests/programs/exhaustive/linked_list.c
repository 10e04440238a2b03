// a list on the heap
#include "exhaustive.h"

static long test(const unsigned char *in) {
  struct node { int v; struct node *next; } *head = 0;
  for (int i = 0; i < (in[0] & 3); i++) { struct node *n = malloc(sizeof *n); n->v = in[0] + i; n->next = head; head = n; } int s = 0;
  while (head) { struct node *n = head; s = s * 2 + n->v; head = n->next; free(n); } return s;
}
