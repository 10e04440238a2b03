// strcmp and strncmp
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[3] = {(char)in[0], 'x', 0};
  int a = strcmp(s, "mx"), b = strncmp(s, "mz", 1);
  return (a > 0) - (a < 0) + 3 * (b == 0);
}
