// status: 0 1 3
#include "klee/klee.h"

struct node { struct node *next; int value; };
int main(void) {
  struct node n[50];
  unsigned char in[50];
  klee_make_symbolic(in, sizeof in, "in");
  for (int i = 0; i < 50; i++) {
    n[i].next = &n[in[i] % 50];
    n[i].value = i;
  }
  struct node *p = n;
  for (int i = 0; i < 100; i++)
    p = p->next;
  return p->value;
}
