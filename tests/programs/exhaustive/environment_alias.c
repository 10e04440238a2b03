// putenv keeps the text itself: changing it changes the environment
#include "exhaustive.h"

static long test(const unsigned char *in) {
  static char entry[4] = "A=x";
  entry[2] = (char)in[0];
  putenv(entry);
  entry[0] = 'B';
  char *value = getenv("B");
  return value ? (unsigned char)value[0] : (getenv("A") != 0) + 200;
}
