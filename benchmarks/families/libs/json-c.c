// json-c: parses any text of six characters, and writes it if it is JSON.
#include <json.h>
#include <klee/klee.h>

int main(void) {
  char text[7];
  klee_make_symbolic(text, sizeof text, "text");
  klee_assume(text[6] == 0);
  json_object *found = json_tokener_parse(text);
  if (found == 0) return 1;
  json_object_to_json_string(found);
  json_object_put(found);
  return 0;
}
