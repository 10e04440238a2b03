/* Inputs of a function that is started by `partita run --entry`: included by the driver that Partita writes.
 *
 * Objects behind pointers are made before the call, and each pointer is one of several addresses, chosen by one symbolic byte:
 * null, an object of its own, an object of the same type made for an earlier pointer; for a string or a structure that may come with
 * a number of elements also the last elements of an array. Nothing forks until the function looks at the pointer. Objects are made
 * breadth first up to PARTITA_MAX_OBJECTS, then as many for the pointers inside those arrays; a pointer beyond that is null or leads
 * to an object whose first use ends the path and is counted. */
#ifndef PARTITA_ENTRY_H
#define PARTITA_ENTRY_H

#include <partita.h>
#include <stdlib.h>

/* Drops the path: `&&` in a condition has made two of it. */
void __VERIFIER_assume(int condition);

struct partita_type;

/* A pointer inside an object. */
struct partita_link {
  size_t offset;
  const char *name; /* of the member; empty for an object that is a pointer itself */
  const struct partita_type *target;
};

/* An object that a pointer leads to. */
struct partita_type {
  size_t size; /* of one element */
  size_t count;
  int is_text; /* the last element is the terminator */
  int is_function;
  size_t links;
  const struct partita_link *link;
  size_t truths; /* offsets of members of type _Bool, which are 0 or 1 */
  const size_t *truth;
};

/* A pointer that is to be filled in. */
struct partita_pending {
  void **place;
  const struct partita_type *type;
  char *name;
  int is_sized; /* the number of elements may be another parameter */
};

/* Pointers inside arrays wait in the second queue, so that they take no objects from the others. */
static struct { struct partita_pending *item; size_t first, last, room; } partita_queue[2];
static struct { void *object; const struct partita_type *type; } partita_made[2 * PARTITA_MAX_OBJECTS];
static size_t partita_count;

/* Inputs have the names of C expressions. */
static char *partita_join(const char *a, const char *b, const char *c) {
  size_t size = 1;
  for (const char *s = a; *s; s++) size++;
  for (const char *s = b; *s; s++) size++;
  for (const char *s = c; *s; s++) size++;
  char *text = malloc(size), *to = text;
  if (!text) abort();
  while (*a) *to++ = *a++;
  while (*b) *to++ = *b++;
  while (*c) *to++ = *c++;
  *to = 0;
  return text;
}

static void partita_later(int queue, void *place, const struct partita_type *type, char *name, int is_sized) {
  if (partita_queue[queue].last == partita_queue[queue].room) {
    partita_queue[queue].room = partita_queue[queue].room ? 2 * partita_queue[queue].room : 16;
    partita_queue[queue].item = realloc(partita_queue[queue].item, partita_queue[queue].room * sizeof *partita_queue[queue].item);
    if (!partita_queue[queue].item) abort();
  }
  struct partita_pending *item = partita_queue[queue].item + partita_queue[queue].last++;
  item->place = place;
  item->type = type;
  item->is_sized = is_sized;
  item->name = name;
}

/* Constrains booleans and remembers the pointers inside an object at `place`, whose members are `name`, `dot`, member. */
static void partita_fields(int queue, void *place, const struct partita_type *type, const char *name, const char *dot) {
  for (size_t i = 0; i < type->truths; i++) partita_assume(((unsigned char *)place)[type->truth[i]] <= 1);
  for (size_t i = 0; i < type->links; i++) {
    const char *member = type->link[i].name;
    int is_member = *member && *member != '[';
    partita_later(queue, (char *)place + type->link[i].offset, type->link[i].target, partita_join(name, is_member ? dot : "", member), 0);
  }
}

/* A parameter that is a structure. */
static inline void partita_value(void *place, const struct partita_type *type, const char *name) {
  partita_fields(0, place, type, name, ".");
}

/* A parameter that is a pointer. */
static inline void partita_pointer(void *place, const struct partita_type *type, const char *name, int is_sized) {
  partita_later(0, place, type, partita_join(name, "", ""), is_sized);
}

static long partita_callback(void) {
  long value;
  partita_make_symbolic(&value, sizeof value, "callback");
  return value;
}

/* The name of an element of an array. */
static const char *partita_element(const char *name, size_t i) {
  char digits[24], *at = digits + sizeof digits;
  *--at = 0;
  *--at = ']';
  do *--at = (char)('0' + i % 10);
  while (i /= 10);
  *--at = '[';
  return partita_join(name, at, "");
}

static void *partita_new(int queue, const struct partita_type *type, const char *name) {
  size_t size = type->size * type->count;
  unsigned char *object = malloc(size ? size : 1);
  if (!object) abort();
  partita_make_symbolic(object, size ? size : 1, partita_join("*", name, ""));
  if (type->is_text)
    for (size_t i = 1; i <= type->size; i++) object[size - i] = 0;
  for (size_t i = 0; (type->links || type->truths) && i < type->count; i++) {
    if (type->count == 1) partita_fields(queue, object, type, name, "->");
    else partita_fields(queue, object + i * type->size, type, partita_element(name, i), ".");
  }
  return object;
}

/* An array whose last elements a pointer may lead to: all end with the object, so that each access behind them is found. */
static char *partita_array(const struct partita_type *type, const char *name, size_t count) {
  char *array = malloc(count * type->size);
  if (!array) abort();
  name = partita_join(name, "[]", "");
  partita_make_symbolic(array, count * type->size, name);
  for (size_t i = 0; (type->links || type->truths) && i < count; i++)
    partita_fields(1, array + i * type->size, type, partita_element(name, i), ".");
  return array;
}

/* Fills in the pointers of a queue. */
static void partita_fill_queue(int queue) {
  size_t start = partita_count, limit = start + PARTITA_MAX_OBJECTS;
  while (partita_queue[queue].first < partita_queue[queue].last) {
    struct partita_pending next = partita_queue[queue].item[partita_queue[queue].first++];
    const struct partita_type *type = next.type;
    void *target[3 + PARTITA_MAX_ALIASES + PARTITA_MAX_SIZED] = {0};
    unsigned char choices = 1, choice;
    partita_make_symbolic(&choice, sizeof choice, next.name);
    if (type->is_function) {
      target[choices++] = (void *)partita_callback;
    } else if (partita_count < limit) {
      size_t before = partita_count++;
      partita_made[before].type = type;
      target[choices++] = partita_made[before].object = partita_new(queue, type, next.name);
      for (size_t i = before; i-- > start && choices < 2 + PARTITA_MAX_ALIASES;)
        if (partita_made[i].type == type) target[choices++] = partita_made[i].object;
      if (next.is_sized) {
        size_t most = type->is_text ? PARTITA_MAX_SIZED_TEXT : PARTITA_MAX_SIZED_RECORDS;
        char *array = partita_array(type, next.name, most);
        for (size_t count = 0; count <= most; count++) target[choices++] = array + (most - count) * type->size;
      }
    } else {
      target[choices++] = partita_beyond(partita_join("an object behind `", next.name, "`: more are needed than --max-made"));
    }
    partita_assume(choice < choices);
    *next.place = target[choice];
  }
}

/* Fills in all pointers. */
static inline void partita_fill(void) {
  partita_fill_queue(0);
  partita_fill_queue(1);
}
#endif
