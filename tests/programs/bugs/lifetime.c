// lifetime: use after free, use after return, and invalid arguments of free
#include "bugs.h"
#include <stdlib.h>

static volatile int sink;

static void use_after_free(int edge) {
  int *p = malloc(4 * sizeof *p);
  unsigned char i = byte_input("i");
  p[3] = 1;
  if (i > 200 - edge)
    free(p);
  if (i <= 200)
    sink = p[3]; // BUG use-after-free
}

static void index_after_free(int edge) {
  int *p = calloc(4, sizeof *p);
  unsigned char i = byte_input("i");
  if (edge)
    free(p);
  if (i < 200)
    sink = p[i & 3]; // BUG use-after-free
}

static void use_after_realloc(int edge) {
  char *p = malloc(8), *q = p;
  unsigned char i = byte_input("i");
  if (i < 10)
    p = realloc(p, 9000);
  if (i >= 10 - edge)
    *q = 1; // BUG use-after-free
  free(p);
}

static int *address_of_local(int i) {
  int local[2] = {i, i + 1};
  int *volatile p = local;
  return p;
}

static void use_after_return(int edge) {
  int other = 5, *p = &other;
  unsigned char i = byte_input("i");
  if (i >= 255 - edge)
    p = address_of_local(i);
  if (i < 255)
    sink = *p; // BUG use-after-free
}

static void double_free(int edge) {
  char *p = malloc(1);
  unsigned char i = byte_input("i");
  if (i < 100 + edge)
    free(p);
  if (i >= 100)
    free(p); // BUG double-free
}

static void free_of_the_middle(int edge) {
  char *p = malloc(16);
  unsigned char i = byte_input("i");
  if (i < 1 + edge)
    free(p + i); // BUG invalid-free
}

static void free_of_a_local(int edge) {
  char local[8], *p = malloc(8);
  unsigned char i = byte_input("i");
  char *volatile q = i < 40 ? p : local;
  if (i < 40 + edge)
    free(q); // BUG invalid-free
}

CASES(use_after_free, index_after_free, use_after_realloc, use_after_return, double_free, free_of_the_middle, free_of_a_local)
