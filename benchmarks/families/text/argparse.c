// Eight bytes as two arguments.
#include "argparse.h"
#include <klee/klee.h>
#include <string.h>

int main(void) {
  char text[8], first[5] = {0}, second[5] = {0};
  int flag = 0, number = 0, bits = 0;
  float real = 0;
  const char *name = 0;
  struct argparse_option options[] = {
      OPT_HELP(), OPT_GROUP("all"), OPT_BOOLEAN('f', "fl", &flag, "flag", 0, 0, 0),
      OPT_BIT('b', "bi", &bits, "bit", 0, 4, OPT_NONEG), OPT_INTEGER('i', "in", &number, "integer", 0, 0, 0),
      OPT_FLOAT('r', "re", &real, "real", 0, 0, 0), OPT_STRING('n', "na", &name, "name", argparse_help_cb_no_exit, 0, 0),
      OPT_END()};
  const char *const usages[] = {"program [options]", 0};
  const char *words[] = {"program", first, second, 0};
  struct argparse parser;
  klee_make_symbolic(text, sizeof text, "text");
  memcpy(first, text, 4);
  memcpy(second, text + 4, 4);
  argparse_init(&parser, options, usages, 0);
  argparse_describe(&parser, "about", "more");
  int left = argparse_parse(&parser, 3, words);
  return left + flag + bits + (number > 1) + (real > 1) + (name != 0);
}
