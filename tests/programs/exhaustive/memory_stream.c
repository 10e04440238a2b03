// fmemopen and getc
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char b[8] = "ab\ncd";
  b[1] = in[0];
  FILE *f = fmemopen(b, 5, "r");
  int c, n = 0;
  while ((c = getc(f)) != EOF && c != '\n') n = n * 3 + c;
  fclose(f);
  return n;
}
