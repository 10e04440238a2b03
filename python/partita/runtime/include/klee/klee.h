/* The intrinsics of KLEE that Partita supports, with KLEE's prototypes, so that programs written for KLEE compile
   unchanged. The executor models them by name; the replay runtime implements them natively. */
#ifndef KLEE_H
#define KLEE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Symbolic values. The size must be that of the whole object. */
void klee_make_symbolic(void *object, size_t size, const char *name);
int klee_int(const char *name);
int klee_range(int begin, int end, const char *name); /* begin <= value < end */
uintptr_t klee_choose(uintptr_t n);                   /* 0 <= value < n */
void klee_mark_global(void *object);
void klee_define_fixed_object(void *address, size_t size);

/* Constraints and preferences. */
void klee_assume(uintptr_t condition);
void klee_prefer_cex(void *object, uintptr_t condition);
void klee_posix_prefer_cex(void *object, uintptr_t condition);

/* End of a path. */
__attribute__((noreturn)) void klee_silent_exit(int status);
__attribute__((noreturn)) void klee_abort(void);
__attribute__((noreturn)) void klee_report_error(const char *file, int line, const char *message, const char *suffix);
__attribute__((noreturn)) void klee_assert_fail(const char *expression, const char *file, unsigned line,
                                                const char *function);
#define klee_assert(expression) \
  ((expression) ? (void)0 : klee_assert_fail(#expression, __FILE__, __LINE__, __extension__ __PRETTY_FUNCTION__))

/* State of the exploration. */
unsigned klee_is_symbolic(uintptr_t value);
unsigned klee_is_replay(void);
size_t klee_get_obj_size(void *object);
int klee_get_errno(void);
void klee_check_memory_access(const void *address, size_t size);

/* A concrete value that the argument can have. */
float klee_get_valuef(float value);
double klee_get_valued(double value);
long klee_get_valuel(long value);
long long klee_get_valuell(long long value);
int32_t klee_get_value_i32(int32_t value);
int64_t klee_get_value_i64(int64_t value);

/* Exploration. */
void klee_set_forking(unsigned enable);
void klee_open_merge(void);
void klee_close_merge(void);

/* Messages. */
void klee_warning(const char *message);
void klee_warning_once(const char *message);
void klee_stack_trace(void);
void klee_print_expr(const char *message, ...);
void klee_print_range(const char *name, int value);

#ifdef __cplusplus
}
#endif
#endif
