// Eight bytes as JSON: parsed, printed, compared, copied, changed, freed.
#include "cJSON.h"
#include <klee/klee.h>
#include <string.h>

static void change(cJSON *all, cJSON *found, const char *text) {
  int numbers[] = {1, 2};
  float floats[] = {1, 2};
  double doubles[] = {1, 2};
  const char *strings[] = {text, "b"};
  cJSON_AddItemToObject(all, "found", found);
  cJSON_AddNullToObject(all, "null");
  cJSON_AddTrueToObject(all, "true");
  cJSON_AddFalseToObject(all, "false");
  cJSON_AddBoolToObject(all, "bool", 1);
  cJSON_AddNumberToObject(all, "number", 1.5);
  cJSON_AddStringToObject(all, "string", text);
  cJSON_AddRawToObject(all, "raw", "1");
  cJSON_AddObjectToObject(all, "object");
  cJSON_AddArrayToObject(all, "array");
  cJSON_AddItemToObjectCS(all, "ints", cJSON_CreateIntArray(numbers, 2));
  cJSON_AddItemToObject(all, "floats", cJSON_CreateFloatArray(floats, 2));
  cJSON_AddItemToObject(all, "doubles", cJSON_CreateDoubleArray(doubles, 2));
  cJSON_AddItemToObject(all, "strings", cJSON_CreateStringArray(strings, 2));
  cJSON *array = cJSON_GetObjectItem(all, "ints");
  cJSON_InsertItemInArray(array, 1, cJSON_CreateBool(0));
  cJSON_ReplaceItemInArray(array, 0, cJSON_CreateStringReference(text));
  cJSON_AddItemReferenceToArray(array, found);
  cJSON_AddItemReferenceToObject(all, "again", found);
  cJSON_AddItemToArray(array, cJSON_CreateArrayReference(found));
  cJSON_AddItemToArray(array, cJSON_CreateObjectReference(found));
  cJSON_DeleteItemFromArray(array, 1);
  cJSON_ReplaceItemInObject(all, "TRUE", cJSON_CreateNull());
  cJSON_ReplaceItemInObjectCaseSensitive(all, "number", cJSON_CreateTrue());
  cJSON_DeleteItemFromObject(all, "BOOL");
  cJSON_DeleteItemFromObjectCaseSensitive(all, "raw");
  cJSON_SetValuestring(cJSON_GetObjectItemCaseSensitive(all, "string"), "longer than it was");
  cJSON_SetNumberHelper(cJSON_GetArrayItem(cJSON_GetObjectItem(all, "doubles"), 0), 2.5);
}

int main(void) {
  char text[9], small[64];
  cJSON_Hooks hooks = {cJSON_malloc, cJSON_free};
  klee_make_symbolic(text, sizeof text, "text");
  text[8] = 0;
  cJSON_InitHooks(0);
  cJSON *found = cJSON_Parse(text), *strict = cJSON_ParseWithLength(text, 8);
  const char *end = cJSON_GetErrorPtr();
  if (strict) cJSON_Delete(strict);
  if (!found) {
    cJSON_Minify(text);
    return end && *end;
  }
  int kind = cJSON_IsInvalid(found) + 2 * cJSON_IsFalse(found) + 4 * cJSON_IsTrue(found) + 8 * cJSON_IsBool(found) +
             16 * cJSON_IsNull(found) + 32 * cJSON_IsNumber(found) + 64 * cJSON_IsString(found) +
             128 * cJSON_IsArray(found) + 256 * cJSON_IsObject(found) + 512 * cJSON_IsRaw(found);
  cJSON *copy = cJSON_Duplicate(found, 1);
  kind += cJSON_Compare(found, copy, 1) + cJSON_Compare(found, copy, 0) + cJSON_HasObjectItem(found, "a");
  kind += cJSON_GetArraySize(found) + (cJSON_GetStringValue(found) != 0) + (cJSON_GetNumberValue(found) > 1);
  char *printed = cJSON_Print(found), *line = cJSON_PrintUnformatted(copy), *buffered = cJSON_PrintBuffered(found, 2, 1);
  cJSON_PrintPreallocated(found, small, sizeof small, 1);
  if (line) cJSON_Minify(line);
  cJSON *all = cJSON_CreateObject();
  change(all, found, "text");
  char *whole = cJSON_Print(all);
  cJSON_free(whole);
  cJSON_free(printed);
  cJSON_free(line);
  cJSON_free(buffered);
  cJSON_Delete(copy);
  cJSON_Delete(cJSON_CreateRaw(cJSON_Version()));
  cJSON_Delete(all);
  cJSON_InitHooks(&hooks);
  return kind != 0;
}
