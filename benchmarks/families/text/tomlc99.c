// Eight bytes as TOML: parsed, and read as every kind of value.
#include "toml.h"
#include <klee/klee.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char text[9], error[64], utf8[6];
  int64_t code;
  klee_make_symbolic(text, sizeof text, "text");
  text[8] = 0;
  toml_set_memutil(malloc, free);
  toml_ucs_to_utf8(toml_utf8_to_ucs(text, 8, &code) > 0 ? code : 0x20ac, utf8);
  FILE *file = fopen("made", "w");
  if (file) {
    fputs("a = [1, 'x', true, 1.5, 1979-05-27T07:32:00Z]\n[b]\nc = [[1]]\n[[d]]\ne = 1\n", file);
    fclose(file);
  }
  if ((file = fopen("made", "r"))) {
    toml_table_t *table = toml_parse_file(file, error, sizeof error);
    fclose(file);
    if (table) {
      toml_array_t *array = toml_array_in(table, "a");
      toml_int_at(array, 0);
      toml_datum_t string = toml_string_at(array, 1);
      if (string.ok) free(string.u.s);
      toml_bool_at(array, 2);
      toml_double_at(array, 3);
      toml_datum_t stamp = toml_timestamp_at(array, 4);
      if (stamp.ok) free(stamp.u.ts);
      toml_array_nelem(array);
      toml_array_kind(array);
      toml_array_type(array);
      toml_array_key(array);
      toml_array_at(toml_array_in(toml_table_in(table, "b"), "c"), 0);
      toml_table_at(toml_array_in(table, "d"), 0);
      toml_table_key(toml_table_in(table, "b"));
      toml_free(table);
    }
  }
  toml_table_t *table = toml_parse(text, error, sizeof error);
  if (!table) return 1;
  const char *key = toml_key_in(table, 0);
  int kinds = toml_table_nkval(table) + toml_table_narr(table) + toml_table_ntab(table);
  if (key) {
    toml_datum_t string = toml_string_in(table, key), stamp = toml_timestamp_in(table, key);
    if (string.ok) free(string.u.s);
    if (stamp.ok) free(stamp.u.ts);
    kinds += toml_key_exists(table, key) + toml_bool_in(table, key).ok + toml_int_in(table, key).ok +
             toml_double_in(table, key).ok;
  }
  toml_free(table);
  return kinds;
}
