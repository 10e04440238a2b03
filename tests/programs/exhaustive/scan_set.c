// sscanf with a set of characters, a width and %n
#include "exhaustive.h"
#include <stdio.h>

static long test(const unsigned char *in) {
  char s[5] = {'a', (char)in[0], 'c', ' ', 0}, word[5] = "";
  int at = -1;
  int read = sscanf(s, "%3[a-c]%n", word, &at);
  return read * 64 + at * 8 + (int)strlen(word);
}
