// regexec on symbolic text
#include "exhaustive.h"
#include <regex.h>

static long test(const unsigned char *in) {
  char text[4] = {(char)in[0], (char)(in[0] + 1), 'c', 0};
  regex_t expression;
  if (regcomp(&expression, "^[a-f]b*c$", REG_EXTENDED | REG_NOSUB)) return 9;
  return regexec(&expression, text, 0, 0, 0);
}
