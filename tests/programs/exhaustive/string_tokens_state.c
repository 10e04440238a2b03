// strtok: a call with new text forgets the old one
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char first[] = "a b", second[] = "c d";
  second[1] = (char)in[0];
  char *a = strtok(first, " "), *b = strtok(second, " "), *c = strtok(0, " ");
  return a[0] + b[0] * 2 + (c ? c[0] : 0) * 3;
}
