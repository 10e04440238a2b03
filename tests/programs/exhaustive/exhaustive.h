// Shared by the programs of this folder. Each has one construct of the language or of the library; its result is decided
// bit by bit, so that every path has one exit status. The test runs all inputs natively.
#include <klee/klee.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>
#include <assert.h>

#ifndef BYTES
#define BYTES 1
#endif

static long test(const unsigned char *in);

int main(void) {
  unsigned char in[BYTES];
  klee_make_symbolic(in, sizeof in, "in");
  unsigned long result = (unsigned long)test(in);
  result ^= result >> 32;
  result ^= result >> 16;
  result ^= result >> 8;
  int status = 0;
  for (int bit = 0; bit < 8; bit++)
    if (result >> bit & 1) status |= 1 << bit;
  return status;
}
