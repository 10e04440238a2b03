// strings: out-of-bounds accesses by string and memory functions of the C library
#include "bugs.h"
#include <stdlib.h>
#include <string.h>

static volatile int sink;

static void copy_length(int edge) {
  char to[10], from[20] = "nineteen characters";
  unsigned char n = byte_input("n");
  if (n <= 10 + edge)
    memcpy(to, from, n); // BUG out-of-bounds-write
  if (n > 3 && n <= 10)
    klee_assert(to[3] == 'e');
}

static void copy_from_length(int edge) {
  char to[20], from[10] = "123456789";
  unsigned char n = byte_input("n");
  to[9] = 7;
  if (n <= 10 + edge)
    memmove(to, from, n); // BUG out-of-bounds-read
  if (n <= 10)
    klee_assert(to[9] == (n == 10 ? 0 : 7));
}

static void overlapping(int edge) {
  char a[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  unsigned char n = byte_input("n");
  if (n <= 7 + edge)
    memmove(a + 1, a, n); // BUG out-of-bounds-write
  if (n == 7)
    klee_assert(a[0] == 0 && a[1] == 0 && a[7] == 6);
  if (n == 2)
    klee_assert(a[2] == 1 && a[3] == 3);
}

static void set_length(int edge) {
  unsigned char *to = malloc(6), n = byte_input("n"), c = byte_input("c");
  to[5] = 9;
  if (n <= 6 + edge)
    memset(to, c, n); // BUG out-of-bounds-write
  if (n <= 5)
    klee_assert(to[5] == 9);
  if (n == 6)
    klee_assert(to[0] == c && to[5] == c);
  free(to);
}

static void not_terminated(int edge) {
  char text[5];
  klee_make_symbolic(text, sizeof text, "text");
  if (!edge)
    text[4] = 0;
  size_t n = strlen(text); // BUG out-of-bounds-read
  klee_assert(n <= 4 && text[n] == 0);
  if (n == 3)
    klee_assert(text[0] && text[1] && text[2]);
}

static void comparison(int edge) {
  char a[4], b[4] = {'a', 'b', 'c', 'd'};
  klee_make_symbolic(a, sizeof a, "a");
  if (!edge)
    a[3] = 0;
  int order = strcmp(a, b); // BUG out-of-bounds-read
  if (order == 0)
    klee_assert(0);
  if (a[0] > 'a')
    klee_assert(order > 0);
}

static void bounded_comparison(int edge) {
  char a[3], b[3] = {'x', 0, 'y'};
  klee_make_symbolic(a, sizeof a, "a");
  if (strncmp(a, b, 3) == 0)
    klee_assert(a[0] == 'x' && a[1] == 0);
  klee_assert((memcmp(a, b, 3) == 0) == (a[0] == 'x' && a[1] == 0 && a[2] == 'y'));
  sink = memcmp(a, b, 3 + (unsigned)edge); // BUG out-of-bounds-read
}

static void copied_string(int edge) {
  char from[5], to[4];
  klee_make_symbolic(from, sizeof from, "from");
  from[3 + edge] = 0;
  strcpy(to, from); // BUG out-of-bounds-write
  klee_assert(strcmp(to, from) == 0);
}

static void symbolic_source(int edge) {
  static const char words[4][4] = {"one", "two", "six", "ten"};
  char word[4];
  unsigned char i = byte_input("i");
  if (i >= 4 + edge)
    return;
  memcpy(word, words[i], 4); // BUG out-of-bounds-read
  klee_assert(word[3] == 0);
  klee_assert((word[0] == 's') == (i == 2));
}

CASES(copy_length, copy_from_length, overlapping, set_length, not_terminated, comparison, bounded_comparison, copied_string,
      symbolic_source)
