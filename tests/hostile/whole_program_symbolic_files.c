// status: 0 1 3
// args: --sym-files 2 1000 --sym-stdin 1000
#include "klee/klee.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  static char b[1 << 16];
  long n = 0;
  FILE *f = fopen(argc > 1 ? argv[1] : "A", "r");
  if (!f)
    return 1;
  while (fgets(b, sizeof b, f))
    n += atoi(b) + strlen(b);
  for (int i = 0; i < 10000; i++)
    printf("%ld %s", n, b);
  return n == 12345;
}
