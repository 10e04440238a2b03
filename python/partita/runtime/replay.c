/* Native intrinsics, linked with a program to run its tests. Before main, a server reads names of .ktest files from
   standard input and runs the program once per file in a child process, which gets the objects of the test in order. It
   prints the ending (`exit N` or `signal N`), or `diverged WHY` if the program asked for an input that the test does not
   have. With PARTITA_REPLAY_TEST in the environment there is no server: the program runs once on that test, and the
   reason of a divergence is written to the file PARTITA_REPLAY_DIVERGED. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

struct object {
  char *name;
  uint32_t size;
  unsigned char *bytes;
};

static struct object *objects;
static uint32_t object_count, next_object;
/* Reason of a divergence, in memory shared with the server. */
static char *divergence;
static int inherited_output = -1;
/* File for the reason, in a run on one test. */
static char report[4096];

static void diverge(const char *why, const char *name) {
  if (!divergence && *report) {
    int file = open(report, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dprintf(file, "%s `%s`", why, name);
    _exit(99);
  }
  snprintf(divergence, 4096, "%s `%s`", why, name);
  _exit(99);
}

static uint32_t number(FILE *file) {
  unsigned char b[4] = {0};
  if (fread(b, 1, 4, file) != 4) diverge("the test ends early", "");
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static unsigned char *bytes(FILE *file, uint32_t size) {
  unsigned char *data = calloc((size_t)size + 1, 1);
  if (!data || fread(data, 1, size, file) != size) diverge("the test ends early", "");
  return data;
}

/* `--malloc-fails`: byte i of the object `malloc_fails` says whether allocation i fails. Such tests are linked with
   `--wrap` for these functions; the program's own objects are read in order, without this one. */
static struct object failing;
static uint32_t allocations;

static void set_failing(void) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < object_count; i++) {
    if (!strcmp(objects[i].name, "malloc_fails")) failing = objects[i];
    else objects[kept++] = objects[i];
  }
  object_count = kept;
}

static int fails(void) {
  if (allocations >= failing.size || !failing.bytes[allocations++]) return 0;
  errno = ENOMEM;
  return 1;
}

/* With PARTITA_FAILING these replace musl's functions, and use its allocator by its inner names: also the library's own
   allocations fail. The linkers of other compilers wrap (`--wrap`) the functions instead. */
#ifdef PARTITA_FAILING
void *__libc_malloc_impl(size_t size);
void *__libc_realloc(void *old, size_t size);

void __libc_free(void *memory);

/* Blocks at a multiple of more than the allocator's own alignment, with the addresses that it knows. */
static struct aligned {
  struct aligned *next;
  void *block, *known;
  size_t size;
} *all_aligned;

/* Removes a block from the list, which is freed or moved; null if it is no such block. */
static struct aligned *taken(void *block) {
  struct aligned **at = &all_aligned, *found;
  while (*at && (*at)->block != block) at = &(*at)->next;
  if ((found = *at)) *at = found->next;
  return found;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc_impl(size); }
void free(void *memory) {
  struct aligned *entry = memory ? taken(memory) : NULL;
  __libc_free(entry ? entry->known : memory);
  __libc_free(entry);
}
void *realloc(void *old, size_t size) {
  if (fails()) return NULL;
  struct aligned *entry = old ? taken(old) : NULL;
  if (!entry) return __libc_realloc(old, size);
  void *new = __libc_malloc_impl(size);
  if (new) memcpy(new, old, size < entry->size ? size : entry->size), __libc_free(entry->known);
  return new;
}
void *aligned_alloc(size_t align, size_t size) {
  if (align & (align - 1)) return errno = EINVAL, NULL;
  if (fails()) return NULL;
  align += !align;
  if (size > SIZE_MAX - 2 * align) return errno = ENOMEM, NULL;
  struct aligned *entry = __libc_malloc_impl(sizeof *entry);
  char *found = __libc_malloc_impl(size + align);
  if (!entry || !found) return NULL;
  *entry = (struct aligned){all_aligned, (void *)(((uintptr_t)found + align) & -(uintptr_t)align), found, size};
  all_aligned = entry;
  return entry->block;
}
void *calloc(size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) return errno = ENOMEM, NULL;
  void *new = malloc(count * size);
  return new ? memset(new, 0, count * size) : NULL;
}
void *reallocarray(void *old, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) return errno = ENOMEM, NULL;
  return realloc(old, count * size);
}
#else
#define WRAPPED(name, parameters, arguments) \
  __attribute__((weak)) void *__real_##name parameters; \
  void *__wrap_##name parameters { return fails() ? NULL : __real_##name arguments; }
WRAPPED(malloc, (size_t size), (size))
WRAPPED(calloc, (size_t count, size_t size), (count, size))
WRAPPED(realloc, (void *old, size_t size), (old, size))
WRAPPED(reallocarray, (void *old, size_t count, size_t size), (old, count, size))
WRAPPED(aligned_alloc, (size_t align, size_t size), (align, size))
WRAPPED(memalign, (size_t align, size_t size), (align, size))
WRAPPED(valloc, (size_t size), (size))
__attribute__((weak)) int __real_posix_memalign(void **to, size_t align, size_t size);
int __wrap_posix_memalign(void **to, size_t align, size_t size) {
  int is_wrong = align < sizeof(void *) || (align & (align - 1));
  return !is_wrong && fails() ? ENOMEM : __real_posix_memalign(to, align, size);
}
#endif

static void read_test(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) diverge("cannot open", path);
  free(bytes(file, 5));
  uint32_t version = number(file);
  uint32_t arguments = number(file);
  for (uint32_t i = 0; i < arguments; i++) free(bytes(file, number(file)));
  if (version >= 2) {
    number(file);
    number(file);
  }
  object_count = number(file);
  objects = calloc((size_t)object_count + 1, sizeof *objects);
  for (uint32_t i = 0; i < object_count; i++) {
    objects[i].name = (char *)bytes(file, number(file));
    objects[i].size = number(file);
    objects[i].bytes = bytes(file, objects[i].size);
  }
  fclose(file);
  set_failing();
}

/* A variable of ours, which the program does not see: its environment is that of the run. */
static const char *taken_variable(const char *name, char *to, size_t room) {
  const char *value = getenv(name);
  if (!value) return NULL;
  snprintf(to, room, "%s", value);
  unsetenv(name);
  return to;
}

/* The next line of standard input, without buffering: the program has a standard input of its own. */
static int next_line(char *to, size_t room) {
  size_t length = 0;
  while (length < room - 1 && read(0, to + length, 1) == 1 && to[length] != '\n') length++;
  to[length] = 0;
  return length > 0;
}

enum { HIGH_DESCRIPTOR = 900 }; /* above those that the program opens, which are numbered as in the run */

__attribute__((constructor)) static void serve(void) {
  static char test[4096], limit[32], log[4096];
  taken_variable("PARTITA_REPLAY_DIVERGED", report, sizeof report);
  if (taken_variable("PARTITA_REPLAY_TEST", test, sizeof test)) {
    read_test(test);
    return;
  }
  if (!taken_variable("PARTITA_REPLAY_SECONDS", limit, sizeof limit)) {
    fprintf(stderr, "this program replays tests: run it with `partita replay`\n");
    _exit(2);
  }
  taken_variable("PARTITA_REPLAY_LOG", log, sizeof log);
  divergence = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char line[4096];
  while (next_line(line, sizeof line)) {
    divergence[0] = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      /* The program's output must not mix with the endings. */
      close(0);
      open("/dev/null", O_RDONLY);
      int nowhere = open("/dev/null", O_WRONLY);
      inherited_output = fcntl(nowhere, F_DUPFD, HIGH_DESCRIPTOR);
      dup2(nowhere, 1);
      close(nowhere);
      /* Its standard error is logged for programs that were compiled with sanitizers. */
      int errors = *log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
      dup2(errors < 0 ? inherited_output : errors, 2);
      if (errors >= 0) close(errors);
      alarm((unsigned)atoi(limit));
      read_test(line);
      return;
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (divergence[0]) printf("diverged %s\n", divergence);
    else if (WIFSIGNALED(status)) printf("signal %d\n", WTERMSIG(status));
    else printf("exit %d\n", WEXITSTATUS(status));
  }
  fflush(stdout);
  _exit(0);
}

static void feed(void *to, size_t size, const char *name) {
  if (size == 0) return;
  if (!name || !*name) name = "unnamed";
  if (next_object == object_count) diverge("the test has no more objects, expected", name);
  struct object *object = &objects[next_object++];
  if (strcmp(object->name, name)) diverge("the test has another object, expected", name);
  if (object->size != size) diverge("the test has another size of", name);
  memcpy(to, object->bytes, size);
}

static int as_int(const char *name) {
  int value;
  feed(&value, sizeof value, name);
  return value;
}

/* Clocks and random numbers are inputs if the next object of the test has their name. Whole programs use the functions of
   the C library: an archive that defines them would be linked with every program that calls one. */
#ifndef WHOLE_PROGRAM
#include "lib/classify.c"
#define AMBIENT __attribute__((weak))
#include "lib/ambient.h"

static long partita_ambient_value(const char *name, long fixed) {
  if (next_object < object_count && !strcmp(objects[next_object].name, name)) feed(&fixed, sizeof fixed, name);
  return fixed;
}
#endif

static void assume(uintptr_t condition) {
  if (!condition) diverge("an assumption does not hold", "");
}

static void assertion_failed(const char *expression, const char *file, unsigned line, const char *function) {
  fprintf(stderr, "%s:%u: %s: assertion failed: %s\n", file, line, function, expression);
  abort();
}

#define INTRINSICS(prefix) \
  void prefix##_make_symbolic(void *object, size_t size, const char *name) { feed(object, size, name); } \
  int prefix##_int(const char *name) { return as_int(name); } \
  int prefix##_range(int begin, int end, const char *name) { \
    int value = as_int(name); \
    assume(begin <= value && value < end); \
    return value; \
  } \
  uintptr_t prefix##_choose(uintptr_t n) { \
    uintptr_t value; \
    feed(&value, sizeof value, "klee_choose"); \
    assume(value < n); \
    return value; \
  } \
  void prefix##_mark_global(void *object) { (void)object; } \
  void prefix##_left_out(const char *what) { (void)what; } \
  void *prefix##_beyond(const char *message) { (void)message; return calloc(1, 1 << 16); } \
  void prefix##_assume(uintptr_t condition) { assume(condition); } \
  void prefix##_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; } \
  void prefix##_posix_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; } \
  void prefix##_silent_exit(int status) { _exit(status); } \
  void prefix##_abort(void) { abort(); } \
  void prefix##_report_error(const char *file, int line, const char *message, const char *suffix) { \
    (void)suffix; \
    assertion_failed(message, file, (unsigned)line, ""); \
  } \
  void prefix##_assert_fail(const char *expression, const char *file, unsigned line, const char *function) { \
    assertion_failed(expression, file, line, function); \
  } \
  unsigned prefix##_is_symbolic(uintptr_t value) { (void)value; return 0; } \
  unsigned prefix##_is_replay(void) { return 1; } \
  float prefix##_get_valuef(float value) { return value; } \
  double prefix##_get_valued(double value) { return value; } \
  long prefix##_get_valuel(long value) { return value; } \
  long long prefix##_get_valuell(long long value) { return value; } \
  int32_t prefix##_get_value_i32(int32_t value) { return value; } \
  int64_t prefix##_get_value_i64(int64_t value) { return value; } \
  void prefix##_check_memory_access(const void *address, size_t size) { (void)address, (void)size; } \
  void prefix##_set_forking(unsigned enable) { (void)enable; } \
  void prefix##_open_merge(void) {} \
  void prefix##_close_merge(void) {} \
  void prefix##_warning(const char *message) { (void)message; } \
  void prefix##_warning_once(const char *message) { (void)message; } \
  void prefix##_stack_trace(void) {} \
  void prefix##_print_expr(const char *message, ...) { (void)message; } \
  void prefix##_print_range(const char *name, int value) { (void)name, (void)value; }

INTRINSICS(klee)
INTRINSICS(partita)

#define NONDET_AS(name, type, result) \
  result __VERIFIER_nondet_##name(void) { \
    type value; \
    feed(&value, sizeof value, #name); \
    return value; \
  }
#define NONDET(name, type) NONDET_AS(name, type, type)
// All of the register, for callers without a declaration.
#define NONDET_NARROW(name, type) NONDET_AS(name, type, int)

NONDET_NARROW(bool, _Bool)
NONDET_NARROW(char, char)
NONDET_NARROW(schar, signed char)
NONDET_NARROW(uchar, unsigned char)
NONDET_NARROW(short, short)
NONDET_NARROW(ushort, unsigned short)
NONDET(int, int)
NONDET(uint, unsigned)
NONDET(unsigned, unsigned)
NONDET(long, long)
NONDET(ulong, unsigned long)
NONDET(longlong, long long)
NONDET(ulonglong, unsigned long long)
#ifdef __SIZEOF_INT128__
NONDET(int128, __int128)
NONDET(uint128, unsigned __int128)
#endif
NONDET(loff_t, long long)
NONDET(sector_t, unsigned long)
NONDET(size_t, size_t)
NONDET(float, float)
NONDET(double, double)
NONDET_NARROW(u8, uint8_t)
NONDET_NARROW(u16, uint16_t)
NONDET(u32, uint32_t)
NONDET(u64, uint64_t)
NONDET(pointer, void *)
NONDET(pchar, char *)
void __VERIFIER_nondet_memory(void *object, size_t size) { feed(object, size, "memory"); }
void __VERIFIER_assume(int condition) { assume((uintptr_t)condition); }
void __VERIFIER_atomic_begin(void) {}
void __VERIFIER_atomic_end(void) {}
#ifdef OWN_ERROR
/* The program defines one of these. To call it is the error, whatever it does: `#pragma weak` makes its definition one
   that these take the place of. It would make them weak too, if they were not assembly. */
__attribute__((used)) static void called_error(void) { abort(); }
__asm__(".globl reach_error, __VERIFIER_error\n.set reach_error, called_error\n.set __VERIFIER_error, called_error");
#else
__attribute__((weak)) void __VERIFIER_error(void) { abort(); }
__attribute__((weak)) void reach_error(void) { abort(); }
#endif
__attribute__((weak)) void __VERIFIER_assert(int condition) {
  if (!condition) abort();
}
