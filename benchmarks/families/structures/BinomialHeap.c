// A binomial heap: inserts symbolic numbers, then removes the minimum until it is empty.
#include "numbers.h"
#include <stdlib.h>

enum { DEGREES = 8 };
struct tree {
  int value;
  struct tree *child, *sibling;
};
static struct tree *heap[DEGREES];

static void add(struct tree *tree, int degree) {
  for (; heap[degree]; degree++) {
    struct tree *other = heap[degree];
    heap[degree] = 0;
    if (other->value < tree->value) {
      struct tree *kept = tree;
      tree = other;
      other = kept;
    }
    other->sibling = tree->child;
    tree->child = other;
  }
  heap[degree] = tree;
}

static int take_least(void) {
  int least = -1;
  for (int i = 0; i < DEGREES; i++)
    if (heap[i] && (least < 0 || heap[i]->value < heap[least]->value)) least = i;
  struct tree *gone = heap[least], *child = gone->child;
  int value = gone->value;
  heap[least] = 0;
  for (int degree = least - 1; child; degree--) {
    struct tree *next = child->sibling;
    child->sibling = 0;
    add(child, degree);
    child = next;
  }
  free(gone);
  return value;
}

int main(void) {
  choose_numbers(-100000, 100000);
  for (int i = 0; i < SIZE; i++) {
    struct tree *fresh = calloc(1, sizeof *fresh);
    fresh->value = number[i];
    add(fresh, 0);
  }
  int last = take_least();
  for (int i = 1; i < SIZE; i++) {
    int next = take_least();
    klee_assert(last <= next);
    last = next;
  }
  return 0;
}
