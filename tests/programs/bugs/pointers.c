// pointers: symbolic pointers to several objects, to none, to functions, to labels and to constants
#include "bugs.h"
#include <stdlib.h>

static volatile int sink;
static int first[4] = {1, 2, 3, 4}, second[2] = {5, 6}, third = 7;
static const int fixed[2] = {8, 9};
static int *const where[4] = {first, second, &third, NULL};

static void through_a_table(int edge) {
  unsigned char i = byte_input("i");
  if (i >= 3 + edge)
    return;
  int *p = where[i];
  sink = *p; // BUG null
  klee_assert(*p == (i == 0 ? 1 : i == 1 ? 5 : 7));
}

static void of_different_sizes(int edge) {
  unsigned char i = byte_input("i");
  if (i >= 2)
    return;
  int *p = where[i];
  p[edge ? 2 : 1] = 3; // BUG out-of-bounds-write
  klee_assert(first[1] + second[1] == (i ? 2 + 3 : 3 + 6) || edge);
}

struct node {
  struct node *next;
  int value;
};

static void field_of_null(int edge) {
  struct node last = {NULL, 3}, middle = {&last, 2}, head = {&middle, 1};
  unsigned char n = byte_input("n");
  struct node *p = &head;
  for (int i = 0; i < n && i < 2 + edge; i++)
    p = p->next;
  sink = p->value; // BUG null
}

static void constants(int edge) {
  unsigned char i = byte_input("i");
  int *p = i < 9 ? second : i < 10 ? &third : (int *)fixed;
  if (i < 10 + edge)
    *p = 1; // BUG read-only-write
}

static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
static int (*const calls[3])(int) = {twice, thrice, NULL};

static void functions(int edge) {
  unsigned char i = byte_input("i");
  if (i < 2 + edge) {
    int r = calls[i](5); // BUG null
    klee_assert(r == (i ? 15 : 10));
  }
}

static void labels(int edge) {
  static void *const table[] = {&&one, &&two, &&one};
  unsigned char i = byte_input("i");
  if (i >= 3 + edge)
    return;
  goto *table[i]; // BUG out-of-bounds-read
one:
  klee_assert(i != 1);
  return;
two:
  klee_assert(i == 1);
}

static void freed_or_not(int edge) {
  int *a = malloc(sizeof *a), *b = malloc(sizeof *b), *both[2] = {a, b};
  unsigned char i = byte_input("i");
  *a = 1;
  *b = 2;
  free(b);
  if (i < 1 + edge)
    sink = *both[i]; // BUG use-after-free
  free(a);
}

CASES(through_a_table, of_different_sizes, field_of_null, constants, functions, labels, freed_or_not)
