/* Reads a percentage, such as "12.5" or "1e2", and rounds it to an int. It forgets that strtod reads "1e30", "inf" and
   "nan" too: `partita run examples/number.c --libc musl` explores musl's strtod and finds such a text. */
#include "klee/klee.h"
#include <stdlib.h>

static int percentage(const char *text) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end != 0 || value < 0) return -1;
  return (int)(value + 0.5);
}

int main(void) {
  char text[7];
  klee_make_symbolic(text, sizeof text, "text");
  text[6] = 0;
  return percentage(text) == 100;
}
