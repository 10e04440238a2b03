// Eight bytes as JSON, with and without comments.
#include "json.h"
#include <klee/klee.h>

int main(void) {
  char text[9], error[json_error_max];
  json_settings settings = {0};
  klee_make_symbolic(text, sizeof text, "text");
  text[8] = 0;
  json_value *found = json_parse(text, 8);
  if (found) json_value_free(found);
  settings.settings = json_enable_comments;
  json_value *other = json_parse_ex(&settings, text, 8, error);
  int kind = other ? (int)other->type : -1;
  if (other) json_value_free(other);
  return kind > 1;
}
