// getopt_long with an ambiguous name
#include "exhaustive.h"
#include <getopt.h>

static long test(const unsigned char *in) {
  static struct option opts[] = {{"all", 0, 0, 'a'}, {"alt", 1, 0, 'b'}, {"size", 2, 0, 's'}, {0}};
  char o[8] = "--al";
  o[4] = in[0];
  char *argv[] = {"p", o, "x", "--size=4", "q", 0};
  int c, r = 0;
  opterr = 0;
  while ((c = getopt_long(5, argv, "ab:", opts, 0)) != -1) r = r * 7 + c + (optarg ? optarg[0] : 0);
  return r + optind;
}
