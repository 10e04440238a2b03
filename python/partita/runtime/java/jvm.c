// Natives of the Java library. Layouts are those of python/partita/jvm/world.py and descriptor.py.
#include <stddef.h>
#include <stdint.h>

typedef struct descriptor {
  uint32_t id, element_size;
  struct descriptor *element;
  void *mirror;
  const char *name, *bug;
  uint64_t test;
  struct descriptor *parent;
  uint32_t size, flags;
  uint16_t box_value, box_cached;
  uint32_t box_size;
  const char *simple_name;
  void *constants;
} descriptor;
enum { USER = 1, INTERFACE = 2, PRIMITIVE = 4 };
typedef struct {
  descriptor *type;
} object;
typedef struct {
  descriptor *type;
  int32_t length;
  _Alignas(8) unsigned char data[];
} array;

void *calloc(uint64_t, uint64_t);
void *memmove(void *, const void *, uint64_t);
uint64_t klee_get_obj_size(void *);
uint64_t klee_is_symbolic(uint64_t);
void klee_report_bug(const char *, const char *, uint32_t, const char *);
int putchar(int);
int printf(const char *, ...);
void __partita_incomplete(const char *);

enum { OK, NULL_POINTER, INDEX, ARRAY_STORE, NOT_CLONEABLE };

static int is_instance(object *value, descriptor *type) {
  return *(uint64_t *)((char *)value->type + type->test) != 0;
}

int jvm_arraycopy(array *from, int from_at, array *to, int to_at, int count) {
  if (!from || !to) return NULL_POINTER;
  if (!from->type->element_size || from->type->element_size != to->type->element_size ||
      !from->type->element != !to->type->element)
    return ARRAY_STORE;
  if (!from->type->element && from->type != to->type) return ARRAY_STORE;
  if ((from_at | to_at | count) < 0 || (uint32_t)from_at + (uint32_t)count > (uint32_t)from->length ||
      (uint32_t)to_at + (uint32_t)count > (uint32_t)to->length)
    return INDEX;
  uint64_t size = from->type->element_size;
  if (from->type->element && from->type != to->type && to->type->element->parent) {
    // Elements are stored one by one until one does not fit.
    object **source = (object **)from->data + from_at, **target = (object **)to->data + to_at;
    for (int i = 0; i < count; i++) {
      if (source[i] && !is_instance(source[i], to->type->element)) return ARRAY_STORE;
      target[i] = source[i];
    }
    return OK;
  }
  memmove(to->data + to_at * size, from->data + from_at * size, count * size);
  return OK;
}

void *jvm_clone(object *value) {
  uint64_t size = klee_get_obj_size(value);
  void *copy = calloc(1, size);
  memmove(copy, value, size);
  return copy;
}

array *jvm_new_array(descriptor *type, int length) {
  array *made = calloc(1, 16 + (uint64_t)length * type->element_size);
  made->type = type;
  made->length = length;
  return made;
}

// A symbolic length of an array is one of the shortest first: most errors have small examples. The executor chooses among
// the others, and counts what it leaves out.
int jvm_length(int length) {
  enum { SHORT = 16 };
  if (!klee_is_symbolic(length)) return length;
  for (int n = 0; n < SHORT; n++)
    if (length == n) return n;
  return length;
}

// The exception thrown last, and where: the innermost place in the user's code.
static object *thrown;
static const char *thrown_file;
static uint32_t thrown_line;

void __partita_note_stack(void);
void jvm_thrown(object *exception, const char *file, uint32_t line) {
  if (exception == thrown) return;
  __partita_note_stack();
  thrown = exception, thrown_file = file, thrown_line = line;
}

// Is it the text of a message that is not known (`UNKNOWN_MESSAGE` in natives.py)?
static int is_unknown(array *text) {
  const char *start = "the message of an exception that depends";
  for (int i = 0; start[i]; i++)
    if (i >= text->length || text->data[i] != start[i]) return 0;
  return 1;
}

// Ends the path: nothing catches the exception. The message is a String object of Latin-1 text, or null.
void jvm_uncaught(object *exception, array *text, uint8_t coder) {
  char message[512];
  int n = 0;
  for (const char *name = exception->type->name; *name && n < 200; name++) message[n++] = *name;
  if (text && !coder && !is_unknown(text) && !klee_is_symbolic((uint64_t)text) && !klee_is_symbolic(text->length)) {
    message[n++] = ':', message[n++] = ' ';
    for (int i = 0; i < text->length && n < 500; i++) {
      unsigned char byte = text->data[i];
      message[n++] = klee_is_symbolic(byte) || byte < 32 || byte > 126 ? '?' : byte;
    }
  }
  message[n] = 0;
  const char *file = exception == thrown ? thrown_file : "";
  klee_report_bug(exception->type->bug, file, exception == thrown ? thrown_line : 0, message);
}

void jvm_print(array *text, uint8_t coder, int newline) {
  if (coder) {
    // UTF-16 to UTF-8.
    uint16_t *units = (uint16_t *)text->data;
    int count = text->length / 2;
    for (int i = 0; i < count; i++) {
      uint32_t c = units[i];
      if (c >= 0xd800 && c < 0xdc00 && i + 1 < count && units[i + 1] >= 0xdc00 && units[i + 1] < 0xe000)
        c = 0x10000 + ((c - 0xd800) << 10) + (units[++i] - 0xdc00);
      else if (c >= 0xd800 && c < 0xe000)
        c = '?';
      if (c < 0x80) putchar(c);
      else if (c < 0x800) putchar(0xc0 | c >> 6), putchar(0x80 | (c & 63));
      else if (c < 0x10000) putchar(0xe0 | c >> 12), putchar(0x80 | (c >> 6 & 63)), putchar(0x80 | (c & 63));
      else putchar(0xf0 | c >> 18), putchar(0x80 | (c >> 12 & 63)), putchar(0x80 | (c >> 6 & 63)), putchar(0x80 | (c & 63));
    }
  } else {
    int length = text->length;
    for (int i = 0; i < length; i++) {
      unsigned char byte = text->data[i];
      if (klee_is_symbolic(byte) || byte < 0x80) putchar(byte);
      else putchar(0xc0 | byte >> 6), putchar(0x80 | (byte & 63));
    }
  }
  if (newline) putchar('\n');
}

void jvm_print_int(int value) { printf("%d", value); }
void jvm_print_long(long value) { printf("%ld", value); }
void jvm_print_double(double value) { printf("%g", value); }

int jvm_identity_hash(object *value) {
  if (!value) return 0;
  __partita_incomplete("one of several values: identity hash code of an object");
  return (int)((uint64_t)value >> 15 & 0x7fffffff);
}

// Hash codes that only decide places in a table; the order of its elements is counted where it is used.
static int has_table_hashes;
int jvm_table_hash(object *value) {
  has_table_hashes = 1;
  return (int)((uint64_t)value >> 15 & 0x7fffffff);
}
void jvm_table_order(void) {
  if (has_table_hashes)
    __partita_incomplete("one of several values: the order of objects with identity hash codes in a hash table");
}

// A String object of Latin-1 text. `value` is the offset of its bytes.
void *jvm_text(const char *text, descriptor *string, descriptor *bytes, int value) {
  int length = 0;
  while (text[length]) length++;
  array *made = jvm_new_array(bytes, length);
  for (int i = 0; i < length; i++) made->data[i] = text[i];
  object *result = calloc(1, string->size);
  result->type = string;
  *(array **)((char *)result + value) = made;
  return result;
}

void klee_make_symbolic(void *, uint64_t, const char *);
static void copy_name(char *to, array *name) {
  int n = 0;
  for (; name && n < name->length && n < 60; n++) to[n] = name->data[n];
  to[n] = 0;
}

// An input with the name of a String's bytes.
void *jvm_symbolic(uint64_t size, array *name) {
  char text[64];
  copy_name(text, name);
  void *made = calloc(1, size);
  klee_make_symbolic(made, size, text);
  return made;
}

int jvm_compare_set_int(char *at, uint64_t offset, int expected, int value) {
  int *place = (int *)(at + offset);
  if (*place != expected) return 0;
  *place = value;
  return 1;
}
int jvm_compare_set_long(char *at, uint64_t offset, long expected, long value) {
  long *place = (long *)(at + offset);
  if (*place != expected) return 0;
  *place = value;
  return 1;
}

extern void exit(int);
void jvm_exit(int status) { exit(status); }

static char *digits(char *at, long number) {
  char reversed[24];
  int n = 0;
  if (number < 0) *at++ = '-', number = -number;
  do reversed[n++] = '0' + number % 10;
  while (number /= 10);
  while (n) *at++ = reversed[--n];
  return at;
}

static char *words(char *at, const char *text) {
  while (*text) *at++ = *text++;
  return at;
}

// Messages of implicit exceptions; null if they depend on an input.
void *jvm_index_message(int index, int length, descriptor *string, descriptor *bytes, int value) {
  char text[80], *at = text;
  if (klee_is_symbolic(index) || klee_is_symbolic(length)) return 0;
  at = words(digits(words(digits(words(at, "Index "), index), " out of bounds for length "), length), "");
  *at = 0;
  return jvm_text(text, string, bytes, value);
}

void *jvm_number_message(int number, descriptor *string, descriptor *bytes, int value) {
  char text[16];
  if (klee_is_symbolic(number)) return 0;
  *digits(text, number) = 0;
  return jvm_text(text, string, bytes, value);
}

// Are two references the same object? Boxed numbers that the caches of the library would have are one object per value.
int jvm_same(object *a, object *b) {
  if (a == b) return 1;
  if (!a || !b || a->type != b->type || !a->type->box_size) return 0;
  descriptor *type = a->type;
  int cached = *(int *)((char *)a + type->box_cached) & *(int *)((char *)b + type->box_cached);
  char *x = (char *)a + type->box_value, *y = (char *)b + type->box_value;
  switch (type->box_size) {
    case 1: return cached & (*x == *y);
    case 2: return cached & (*(uint16_t *)x == *(uint16_t *)y);
    case 4: return cached & (*(uint32_t *)x == *(uint32_t *)y);
    default: return cached & (*(uint64_t *)x == *(uint64_t *)y);
  }
}

int jvm_is_instance(object *value, descriptor *type) { return value && is_instance(value, type); }

// Has a class another one among its supertypes? Primitive types have only themselves, and their tests are slots too.
int jvm_is_assignable(descriptor *type, descriptor *wanted) {
  if ((type->flags & PRIMITIVE) || !wanted->test) return type == wanted || !(type->flags & PRIMITIVE);
  return *(uint64_t *)((char *)type + wanted->test) != 0;
}

int __VERIFIER_nondet_length(void);
void __VERIFIER_assume(int);

// Any string of up to `most` Latin-1 characters: a length and the characters are inputs.
void *jvm_symbolic_string(int most, array *name, descriptor *string, descriptor *bytes, int value) {
  int length = __VERIFIER_nondet_length();
  __VERIFIER_assume(length >= 0 && length <= most);
  array *made = jvm_new_array(bytes, most);
  if (most > 0) {
    void *data = jvm_symbolic(most, name);
    memmove(made->data, data, most);
  }
  made->length = length;
  object *result = calloc(1, string->size);
  result->type = string;
  *(array **)((char *)result + value) = made;
  return result;
}

void *jvm_superclass(descriptor *type) {
  return type->parent && !(type->flags & (INTERFACE | PRIMITIVE)) ? type->parent->mirror : 0;
}

// A class as `Class.toString` shows it.
void *jvm_class_text(descriptor *type, descriptor *string, descriptor *bytes, int value) {
  char text[300], *at = text;
  if (!(type->flags & PRIMITIVE)) at = words(at, type->flags & INTERFACE ? "interface " : "class ");
  for (const char *name = type->name; *name && at < text + sizeof text - 1;) *at++ = *name++;
  *at = 0;
  return jvm_text(text, string, bytes, value);
}

// The name of a class with dots before inner classes, as a String.
void *jvm_canonical(const char *name, descriptor *string, descriptor *bytes, int value) {
  char text[300];
  int n = 0;
  for (; name[n] && n < (int)sizeof text - 1; n++) text[n] = name[n] == '$' ? '.' : name[n];
  text[n] = 0;
  return jvm_text(text, string, bytes, value);
}

// The one String object with these characters: a literal (the table of them ends in null), or one interned before.
typedef struct interned {
  object *string;
  struct interned *next;
} interned;
static interned *others;
int memcmp(const void *, const void *, uint64_t);

static int same_text(object *a, object *b, int value, int coder) {
  array *x = *(array **)((char *)a + value), *y = *(array **)((char *)b + value);
  if (a == b) return 1;
  if (((char *)a)[coder] != ((char *)b)[coder] || x->length != y->length) return 0;
  return !memcmp(x->data, y->data, x->length);
}

void *jvm_intern(object *string, object **literals, int value, int coder) {
  for (; *literals; literals++)
    if (same_text(string, *literals, value, coder)) return *literals;
  for (interned *i = others; i; i = i->next)
    if (same_text(string, i->string, value, coder)) return i->string;
  interned *fresh = calloc(1, sizeof *fresh);
  fresh->string = string;
  fresh->next = others;
  others = fresh;
  return string;
}

// Standard input as an array of bytes: an input of the size that was asked for, or what was given.
long __partita_stdin(void *to, uint64_t room);
long __partita_setting(const char *);
array *jvm_standard_input(descriptor *bytes) {
  long symbolic = __partita_setting("sym-stdin"), size = symbolic ? symbolic : __partita_stdin(0, 0);
  if (!size) __partita_incomplete("standard input is empty: set --sym-stdin");
  array *made = jvm_new_array(bytes, size);
  if (symbolic) {
    void *data = calloc(1, size);
    klee_make_symbolic(data, size, "stdin");
    memmove(made->data, data, size);
  } else if (size) {
    __partita_stdin(made->data, size);
  }
  return made;
}

// The arguments of the program, without its name.
array *jvm_arguments(int count, char **words, descriptor *strings, descriptor *string, descriptor *bytes, int value) {
  array *made = jvm_new_array(strings, count - 1);
  for (int i = 1; i < count; i++) ((void **)made->data)[i - 1] = jvm_text(words[i], string, bytes, value);
  return made;
}
