// getopt with a symbolic option
#include "exhaustive.h"
#include <unistd.h>

static long test(const unsigned char *in) {
  char o[3] = {'-', (char)in[0], 0};
  char *argv[] = {"p", o, "arg", "-b", "rest", 0};
  int c, r = 0;
  opterr = 0;
  while ((c = getopt(5, argv, "ab:c")) != -1) r = r * 7 + c + (optarg ? optarg[0] : 0);
  return r + optind;
}
