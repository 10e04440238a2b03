/* Inputs of a function that is started by `partita run --entry`: included by the driver that Partita writes.
 *
 * Objects behind pointers are made before the call, and each pointer is one of several addresses, chosen by one symbolic byte:
 * null, an object of its own, an object of the same type made for an earlier pointer; for a string that may come with its length
 * also the last elements of an array without a terminator. Nothing forks until the function looks at the pointer. Objects are made breadth first up to PARTITA_MAX_OBJECTS; a pointer beyond that is null or
 * leads to an object whose first use ends the path and is counted. */
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

static struct partita_pending *partita_queue;
static size_t partita_first, partita_last, partita_room;
static struct { void *object; const struct partita_type *type; } partita_made[PARTITA_MAX_OBJECTS];
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

static void partita_later(void *place, const struct partita_type *type, char *name, int is_sized) {
  if (partita_last == partita_room) {
    partita_room = partita_room ? 2 * partita_room : 16;
    partita_queue = realloc(partita_queue, partita_room * sizeof *partita_queue);
    if (!partita_queue) abort();
  }
  partita_queue[partita_last].place = place;
  partita_queue[partita_last].type = type;
  partita_queue[partita_last].is_sized = is_sized;
  partita_queue[partita_last++].name = name;
}

/* Constrains booleans and remembers the pointers inside an object at `place`, whose members are `name`, `dot`, member. */
static void partita_fields(void *place, const struct partita_type *type, const char *name, const char *dot) {
  for (size_t i = 0; i < type->truths; i++) partita_assume(((unsigned char *)place)[type->truth[i]] <= 1);
  for (size_t i = 0; i < type->links; i++) {
    const char *member = type->link[i].name;
    int is_member = *member && *member != '[';
    partita_later((char *)place + type->link[i].offset, type->link[i].target, partita_join(name, is_member ? dot : "", member), 0);
  }
}

/* A parameter that is a structure. */
static inline void partita_value(void *place, const struct partita_type *type, const char *name) {
  partita_fields(place, type, name, ".");
}

/* A parameter that is a pointer. */
static inline void partita_pointer(void *place, const struct partita_type *type, const char *name, int is_sized) {
  partita_later(place, type, partita_join(name, "", ""), is_sized);
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

static void *partita_new(const struct partita_type *type, const char *name) {
  size_t size = type->size * type->count;
  unsigned char *object = malloc(size ? size : 1);
  if (!object) abort();
  partita_make_symbolic(object, size ? size : 1, partita_join("*", name, ""));
  if (type->is_text)
    for (size_t i = 1; i <= type->size; i++) object[size - i] = 0;
  for (size_t i = 0; (type->links || type->truths) && i < type->count; i++) {
    if (type->count == 1) partita_fields(object, type, name, "->");
    else partita_fields(object + i * type->size, type, partita_element(name, i), ".");
  }
  return object;
}

/* Fills in all pointers. */
static inline void partita_fill(void) {
  while (partita_first < partita_last) {
    struct partita_pending next = partita_queue[partita_first++];
    const struct partita_type *type = next.type;
    void *target[3 + PARTITA_MAX_ALIASES + PARTITA_MAX_SIZED] = {0};
    unsigned char choices = 1, choice;
    partita_make_symbolic(&choice, sizeof choice, next.name);
    if (type->is_function) {
      target[choices++] = (void *)partita_callback;
    } else if (partita_count < PARTITA_MAX_OBJECTS) {
      size_t before = partita_count++;
      partita_made[before].type = type;
      target[choices++] = partita_made[before].object = partita_new(type, next.name);
      for (size_t i = before; i-- > 0 && choices < 2 + PARTITA_MAX_ALIASES;)
        if (partita_made[i].type == type) target[choices++] = partita_made[i].object;
      if (next.is_sized && type->is_text) {
        /* All end with the object, so that each read behind them is found. */
        char *array = malloc(PARTITA_MAX_SIZED * type->size);
        if (!array) abort();
        partita_make_symbolic(array, PARTITA_MAX_SIZED * type->size, partita_join(next.name, "[]", ""));
        for (size_t count = 0; count <= PARTITA_MAX_SIZED; count++)
          target[choices++] = array + (PARTITA_MAX_SIZED - count) * type->size;
      }
    } else {
      target[choices++] = partita_beyond(partita_join("an object behind `", next.name, "`: more are needed than --max-made"));
    }
    partita_assume(choice < choices);
    *next.place = target[choice];
  }
}
#endif
