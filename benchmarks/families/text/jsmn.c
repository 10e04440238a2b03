// Eight bytes as JSON tokens.
#include "jsmn.h"
#include <klee/klee.h>

int main(void) {
  char text[9];
  jsmn_parser parser;
  jsmntok_t tokens[8];
  klee_make_symbolic(text, sizeof text, "text");
  text[8] = 0;
  jsmn_init(&parser);
  int count = jsmn_parse(&parser, text, 8, tokens, 8);
  jsmn_init(&parser);
  return count + jsmn_parse(&parser, text, 8, 0, 0) > 3;
}
