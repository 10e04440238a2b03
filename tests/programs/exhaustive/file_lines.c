// getline of a stream in memory with a symbolic byte
#define _GNU_SOURCE
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char text[6] = "a\nb\nc", *line = 0;
  text[1] = (char)in[0];
  FILE *file = fmemopen(text, 5, "r");
  size_t room = 0;
  long n = 0, got;
  while ((got = getline(&line, &room, file)) > 0) n = n * 4 + got;
  free(line);
  return n;
}
