// setenv, putenv and the array of variables
#include "exhaustive.h"

extern char **environ;

static long test(const unsigned char *in) {
  clearenv();
  setenv("A", "1", 1);
  char v[2] = {(char)(in[0] | 1), 0};
  setenv("B", v, 1);
  setenv("A", "2", in[0] & 1);
  putenv("C=x");
  int n = 0;
  for (char **p = environ; *p; p++) n++;
  return n * 50 + getenv("A")[0] + getenv("B")[0];
}
