// sizes: objects of symbolic size
#include "bugs.h"
#include <stdlib.h>
#include <string.h>

static volatile int sink;

static void heap(int edge) {
  unsigned char n = byte_input("n");
  if (n == 0 || n > 8)
    return;
  char *p = malloc(n);
  p[n - 1 + edge] = 1; // BUG out-of-bounds-write
  free(p);
}

static void array_of_variable_length(int edge) {
  unsigned char n = byte_input("n");
  if (n < 1 || n > 6)
    return;
  int cells[n];
  for (int i = 0; i < n; i++)
    cells[i] = i;
  sink = cells[n - 1 + edge]; // BUG out-of-bounds-read
}

static void zeroed(int edge) {
  unsigned char n = byte_input("n");
  if (n > 4)
    return;
  int *p = calloc(n, sizeof *p);
  for (int i = 0; i < n + edge; i++)
    klee_assert(p[i] == 0); // BUG out-of-bounds-read
  free(p);
}

static void resized(int edge) {
  unsigned char n = byte_input("n");
  if (n < 2 || n > 5)
    return;
  char *p = malloc(3);
  memcpy(p, "ab", 3);
  p = realloc(p, n);
  klee_assert(p[0] == 'a' && p[1] == 'b');
  sink = p[n - !edge]; // BUG out-of-bounds-read
  free(p);
}

static void refused(int edge) {
  size_t n;
  klee_make_symbolic(&n, sizeof n, "n");
  if (n < (size_t)1 << 62)
    return;
  char *p = calloc(n, 8);
  if (edge)
    *p = 1; // BUG null
}

// More sizes than are enumerated: one object for all of them.
static void any_size(int edge) {
  unsigned char n = byte_input("n");
  if (n == 0)
    return;
  char *p = malloc(n);
  for (int i = 0; i < n + edge && i < 3; i++)
    p[i] = 1; // BUG out-of-bounds-write
  free(p);
}

static void any_place(int edge) {
  unsigned char n = byte_input("n"), i = byte_input("i");
  int *p = calloc(n, sizeof *p);
  if (i < n + edge)
    sink = p[i]; // BUG out-of-bounds-read
  free(p);
}

static void filled(int edge) {
  unsigned char n = byte_input("n");
  if (n == 0)
    return;
  char *p = malloc(n);
  memset(p, 1, n + edge); // BUG out-of-bounds-write
  free(p);
}

static void any_length(int edge) {
  unsigned char n = byte_input("n");
  if (n == 0)
    return;
  char text[n];
  text[n - !edge] = 1; // BUG out-of-bounds-write
  sink = text[n - 1];
}

CASES(heap, array_of_variable_length, zeroed, resized, refused, any_size, any_place, filled, any_length)
