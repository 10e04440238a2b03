// Eight bytes as JSON: parsed, serialised, compared, copied, validated, changed.
#include "parson.h"
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

static int print_number(double number, char *to) {
  if (to) strcpy(to, number < 0 ? "-" : "+");
  return 1;
}

static void change_array(JSON_Array *array, JSON_Value *value) {
  json_array_append_value(array, value);
  json_array_append_string(array, "a");
  json_array_append_string_with_len(array, "ab", 1);
  json_array_append_number(array, 2);
  json_array_append_boolean(array, 1);
  json_array_append_null(array);
  json_array_replace_string(array, 1, "b");
  json_array_replace_string_with_len(array, 1, "cd", 1);
  json_array_replace_number(array, 2, 3);
  json_array_replace_boolean(array, 3, 0);
  json_array_replace_null(array, 4);
  json_array_replace_value(array, 5, json_value_init_object());
  json_array_get_string(array, 1);
  json_array_get_string_len(array, 1);
  json_array_get_number(array, 2);
  json_array_get_object(array, 5);
  json_array_get_array(array, 0);
  json_array_get_boolean(array, 3);
  json_array_remove(array, 1);
  json_array_get_wrapping_value(array);
}

static void change_object(JSON_Object *object) {
  json_object_set_string(object, "string", "a");
  json_object_set_string_with_len(object, "string", "ab", 1);
  json_object_set_number(object, "number", 1);
  json_object_set_boolean(object, "boolean", 1);
  json_object_set_null(object, "null");
  json_object_dotset_value(object, "a.b", json_value_init_array());
  json_object_dotset_string(object, "a.string", "x");
  json_object_dotset_string_with_len(object, "a.string", "xy", 1);
  json_object_dotset_number(object, "a.number", 1);
  json_object_dotset_boolean(object, "a.boolean", 1);
  json_object_dotset_null(object, "a.null");
  json_object_get_string(object, "string");
  json_object_get_string_len(object, "string");
  json_object_get_number(object, "number");
  json_object_get_object(object, "a");
  json_object_get_array(object, "a");
  json_object_get_boolean(object, "boolean");
  json_object_dotget_string(object, "a.string");
  json_object_dotget_string_len(object, "a.string");
  json_object_dotget_number(object, "a.number");
  json_object_dotget_object(object, "a.b");
  json_object_dotget_array(object, "a.b");
  json_object_dotget_boolean(object, "a.boolean");
  json_object_has_value(object, "a");
  json_object_has_value_of_type(object, "a", JSONObject);
  json_object_dothas_value(object, "a.b");
  json_object_dothas_value_of_type(object, "a.b", JSONArray);
  json_object_get_name(object, 0);
  json_object_get_value_at(object, 0);
  json_object_get_wrapping_value(object);
  json_object_remove(object, "number");
  json_object_dotremove(object, "a.b");
}

int main(void) {
  char text[9], room[128];
  klee_make_symbolic(text, sizeof text, "text");
  text[8] = 0;
  json_set_allocation_functions(malloc, free);
  json_set_escape_slashes(0);
  JSON_Value *value = json_parse_string(text), *loose = json_parse_string_with_comments(text);
  if (loose) json_value_free(loose);
  if (!value) return 1;
  JSON_Value *copy = json_value_deep_copy(value);
  int equal = json_value_equals(value, copy) + (json_validate(copy, value) == JSONSuccess);
  equal += json_type(value) + (json_object(value) != 0) + (json_array(value) != 0) + (json_string(value) != 0) +
           (int)json_string_len(value) + (json_number(value) > 1) + json_boolean(value);
  equal += (int)json_array_get_count(json_array(value)) + (int)json_object_get_count(json_object(value));
  json_value_get_parent(value);
  char *plain = json_serialize_to_string(value), *pretty = json_serialize_to_string_pretty(value);
  json_serialize_to_buffer(value, room, sizeof room);
  json_serialize_to_buffer_pretty(value, room, sizeof room);
  json_free_serialized_string(plain);
  json_free_serialized_string(pretty);
  json_serialize_to_file(value, "made");
  json_serialize_to_file_pretty(value, "made");
  JSON_Value *array = json_value_init_array(), *object = json_value_init_object();
  change_array(json_array(array), copy);
  change_object(json_object(object));
  json_set_float_serialization_format("%f");
  json_value_free(json_parse_file("made"));
  json_value_free(json_parse_file_with_comments("made"));
  json_set_number_serialization_function(print_number);
  json_free_serialized_string(json_serialize_to_string(array));
  json_array_clear(json_array(array));
  json_object_clear(json_object(object));
  json_value_free(json_value_init_boolean(1));
  json_value_free(json_value_init_null());
  json_value_free(json_value_init_string("a"));
  json_value_free(array);
  json_value_free(object);
  json_value_free(value);
  return equal != 0;
}
