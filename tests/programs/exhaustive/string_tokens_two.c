// strtok_r with symbolic separators, strsep with empty fields
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char a[] = "a,b;;c", b[] = "a,b;;c", set[2] = {(char)in[0], 0};
  char *save, *p = b;
  long n = 0;
  for (char *t = strtok_r(a, set, &save); t; t = strtok_r(0, set, &save)) n = n * 3 + (long)strlen(t);
  for (char *t; (t = strsep(&p, set));) n = n * 5 + (long)strlen(t);
  return n & 255;
}
