/* Expands run-length encoded text: each pair is a count and a character. The check of the remaining space is off by one;
   a count that fills the buffer exactly shows it: partita run examples/rle.c */
#include "klee/klee.h"
#include <assert.h>

#define ROOM 6

static int expand(const unsigned char *in, int pairs, char *out) {
  int used = 0;
  for (int i = 0; i < pairs; i++) {
    int count = in[2 * i];
    if (count == 0)
      return -1;
    if (used + count > ROOM)
      return -2;
    for (int k = 0; k < count; k++)
      out[used++] = (char)in[2 * i + 1];
  }
  out[used] = 0;
  return used;
}

int main(void) {
  unsigned char in[4];
  char out[ROOM];
  klee_make_symbolic(in, sizeof in, "in");
  int length = expand(in, 2, out);
  assert(length <= ROOM);
  return length < 0;
}
