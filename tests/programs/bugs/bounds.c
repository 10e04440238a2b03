// bounds: reads and writes at symbolic offsets, one past each end of objects of each kind
#include "bugs.h"
#include <stdlib.h>
#include <string.h>

static int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static volatile int sink;

static void read_above_global(int edge) {
  unsigned char i = byte_input("i");
  if (i < 8 + edge)
    sink = table[i]; // BUG out-of-bounds-read
}

static void read_below_heap(int edge) {
  char *p = malloc(5);
  signed char i = (signed char)byte_input("i");
  memset(p, 7, 5);
  if (i >= -edge && i < 5)
    sink = p[i]; // BUG out-of-bounds-read
  free(p);
}

static void read_half_outside(int edge) {
  char *p = calloc(10, 1);
  unsigned char i = byte_input("i");
  int word;
  if (i <= 6 + edge) {
    memcpy(&word, p + i, sizeof word); // BUG out-of-bounds-read
    sink = word;
  }
  free(p);
}

static void write_above_local(int edge) {
  short a[6];
  unsigned char i = byte_input("i");
  if (i < 6 + edge)
    a[i] = 1; // BUG out-of-bounds-write
  sink = a[0];
}

static void write_below_local(int edge) {
  char a[6];
  int i = byte_input("i") - 3;
  if (i > -1 - edge && i < 6)
    a[i] = 1; // BUG out-of-bounds-write
  sink = a[0];
}

static void write_above_heap(int edge) {
  struct pair {
    int a, b;
  } *p = malloc(3 * sizeof *p);
  unsigned char i = byte_input("i");
  if (i < 3 + edge)
    p[i].b = 1; // BUG out-of-bounds-write
  free(p);
}

static void large_object(int edge) {
  static char bytes[100000];
  unsigned char i = byte_input("i");
  if (i <= 99 + edge)
    bytes[99900 + i] = 1; // BUG out-of-bounds-write
}

static void structure_copy(int edge) {
  struct big {
    int a[5];
  } all[4], one;
  unsigned char i = byte_input("i");
  memset(all, 1, sizeof all);
  if (i < 4 + edge) {
    one = all[i]; // BUG out-of-bounds-read
    sink = one.a[4];
  }
}

static void after_symbolic_writes(int edge) {
  unsigned char a[16] = {0}, i = byte_input("i"), j = byte_input("j");
  if (i >= 16 || j >= 16)
    return;
  a[i] = 1;
  a[j] += 2;
  unsigned char k = a[3];
  klee_assert(k <= 3);
  if (k == 3)
    klee_assert(i == 3 && j == 3);
  sink = table[k + 4 + edge]; // BUG out-of-bounds-read
}

CASES(read_above_global, read_below_heap, read_half_outside, write_above_local, write_below_local, write_above_heap,
      large_object, structure_copy, after_symbolic_writes)
