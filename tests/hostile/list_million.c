// status: 0 3
#include "klee/klee.h"
#include <stdlib.h>

struct node { struct node *next; int value; };
int main(void) {
  struct node *list = 0;
  int x, n = 0;
  klee_make_symbolic(&x, sizeof x, "x");
  for (int i = 0; i < 1000000; i++) {
    struct node *p = malloc(sizeof *p);
    p->next = list;
    p->value = i + x;
    list = p;
  }
  for (; list; list = list->next)
    n += list->value == 5;
  return n;
}
