// fgets, fgetc and ungetc of a stream in memory
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char text[4] = {(char)in[0], 'b', 10, 'c'}, line[8];
  FILE *file = fmemopen(text, 4, "r");
  char *got = fgets(line, in[0] & 3 ? 8 : 2, file);
  int next = fgetc(file);
  ungetc(in[0], file);
  int again = getc(file);
  return (got != 0) + next * 2 + again;
}
