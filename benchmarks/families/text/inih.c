// Eight bytes as an INI file: from memory and from a stream.
#include "ini.h"
#include <klee/klee.h>
#include <stdio.h>

static int note(void *user, const char *section, const char *name, const char *value) {
  int *count = user;
  (*count)++;
  return !*section || *name != *value;
}

int main(void) {
  char text[9];
  int count = 0;
  klee_make_symbolic(text, sizeof text, "text");
  text[8] = 0;
  int line = ini_parse_string(text, note, &count);
  line += ini_parse_string_length(text, 8, note, &count);
  FILE *file = fopen("made", "w");
  if (file) {
    fputs("[a]\nb = c\n", file);
    fclose(file);
  }
  line += ini_parse("made", note, &count);
  return line + count > 1;
}
