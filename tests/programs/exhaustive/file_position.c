// fseek, ftell and fread of a temporary file after ungetc
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  FILE *file = tmpfile();
  fputc(in[0], file);
  fputs("xyz", file);
  rewind(file);
  int first = fgetc(file);
  ungetc(first ^ 1, file);
  char rest[4] = {0};
  size_t n = fread(rest, 1, in[0] & 3, file);
  long at = ftell(file);
  fclose(file);
  return first + (long)n * 3 + rest[0] + at * 5;
}
