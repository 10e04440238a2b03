// endings: assertions, abort, unreachable code, stack overflow
#include "bugs.h"
#include <assert.h>
#include <stdlib.h>

static volatile int sink;

static void assertion(int edge) {
  unsigned char i = byte_input("i");
  if (i < 77 + edge)
    assert(i != 77); // BUG assert
}

static void aborting(int edge) {
  unsigned char i = byte_input("i");
  if (i / 3 >= 86 - edge)
    abort(); // BUG abort
}

static int pick(unsigned char i) {
  switch (i) {
  case 0:
    return 4;
  case 1:
    return 6;
  default:
    __builtin_unreachable(); // BUG unreachable
  }
}

static void unreachable(int edge) {
  unsigned char i = byte_input("i");
  if (i < 2 + edge)
    sink = pick(i);
}

static void fill(char *bytes, int n) { bytes[n] = (char)n; }

static int deep(int levels) { // BUG stack-overflow
  char megabyte[1 << 20];
  fill(megabyte, levels);
  return levels > 1 ? deep(levels - 1) + megabyte[levels] : 0;
}

static void full_stack(int edge) {
  unsigned char i = byte_input("i");
  if (i == 2)
    sink = deep(edge ? 9 : 7);
}

CASES(assertion, aborting, unreachable, full_stack)
