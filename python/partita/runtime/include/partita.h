/* Intrinsics for analysed programs: the functions of klee/klee.h with our own prefix. */
#ifndef PARTITA_H
#define PARTITA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Symbolic values. The size must be that of the whole object. */
void partita_make_symbolic(void *object, size_t size, const char *name);
int partita_int(const char *name);
int partita_range(int begin, int end, const char *name); /* begin <= value < end */
uintptr_t partita_choose(uintptr_t n);                   /* 0 <= value < n */
void partita_mark_global(void *object);
void partita_define_fixed_object(void *address, size_t size);
void partita_left_out(const char *what);   /* counts inputs that the program does not make */
void *partita_beyond(const char *message); /* an object whose first use ends the path, with this message */

/* Constraints and preferences. */
void partita_assume(uintptr_t condition);
void partita_prefer_cex(void *object, uintptr_t condition);
void partita_posix_prefer_cex(void *object, uintptr_t condition);

/* End of a path. */
__attribute__((noreturn)) void partita_silent_exit(int status);
__attribute__((noreturn)) void partita_abort(void);
__attribute__((noreturn)) void partita_report_error(const char *file, int line, const char *message, const char *suffix);
__attribute__((noreturn)) void partita_assert_fail(const char *expression, const char *file, unsigned line,
                                                const char *function);
#define partita_assert(expression) \
  ((expression) ? (void)0 : partita_assert_fail(#expression, __FILE__, __LINE__, __extension__ __PRETTY_FUNCTION__))

/* A precondition: callers guarantee it. Paths that contradict it are dropped. */
void __VERIFIER_assume(int condition);
#define partita_requires(condition) __VERIFIER_assume(!!(condition))

/* State of the exploration. */
unsigned partita_is_symbolic(uintptr_t value);
unsigned partita_is_replay(void);
size_t partita_get_obj_size(void *object);
int partita_get_errno(void);
void partita_check_memory_access(const void *address, size_t size);

/* A concrete value that the argument can have. */
float partita_get_valuef(float value);
double partita_get_valued(double value);
long partita_get_valuel(long value);
long long partita_get_valuell(long long value);
int32_t partita_get_value_i32(int32_t value);
int64_t partita_get_value_i64(int64_t value);

/* Exploration. */
void partita_set_forking(unsigned enable);
void partita_open_merge(void);
void partita_close_merge(void);

/* Messages. */
void partita_warning(const char *message);
void partita_warning_once(const char *message);
void partita_stack_trace(void);
void partita_print_expr(const char *message, ...);
void partita_print_range(const char *name, int value);

#ifdef __cplusplus
}
#endif
#endif
