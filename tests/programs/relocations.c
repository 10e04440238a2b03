// relocations: globals initialised with addresses of globals, of their members, of functions and of string literals
// EXPECT: paths=3 bug=none
#include "klee/klee.h"

struct node { int value; const struct node *next; const char *name; int (*get)(const struct node *); };
static int value_of(const struct node *n) { return n->value; }
static const struct node third = {30, 0, "third", value_of};
static const struct node second = {20, &third, "second", value_of};
static const struct node first = {10, &second, "first", value_of};
static int cells[4] = {1, 2, 3, 4};
static int *const inside[] = {&cells[3], &cells[0], cells + 2};
static const int *const *const table = (const int *const *)inside;

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  const struct node *p = &first;
  int steps = 0;
  while (p->next && p->get(p) < n) {
    p = p->next;
    steps++;
  }
  klee_assert(p->name[0] == "fst"[steps]);
  klee_assert(*table[0] + *table[1] + *table[2] == 8);
  *inside[1] = n;
  klee_assert(cells[0] == n);
  return steps;
}
