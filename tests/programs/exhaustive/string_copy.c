// strcpy and strcat
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char s[8] = "a", t[2] = {(char)in[0], 0};
  strcat(s, t);
  strcat(s, "z");
  return (long)strlen(s) * 16 + s[1];
}
