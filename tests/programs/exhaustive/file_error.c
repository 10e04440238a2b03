// errno of fopen of a symbolic name
#include "exhaustive.h"
#include <errno.h>
#include <stdio.h>

static long test(const unsigned char *in) {
  char name[] = "?nonexistent/a";
  name[0] = (char)in[0];
  FILE *file = fopen(name, "r");
  if (file) return 77;
  return errno;
}
