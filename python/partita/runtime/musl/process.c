/* Replaces musl's start-up code: the thread's descriptor and the library's variables; memory from the executor; the
   final flush. Arguments, environment and files are in the kernel model (`posix/start.c`). */
#include <stdlib.h>
#include "libc.h"
#include "pthread_impl.h"
#include "stdio_impl.h"

_Noreturn void __partita_unsupported(const char *what);
void __partita_errno(int *where);

volatile int __thread_list_lock;
extern FILE __stdout_FILE; /* not `stdout`, which a model may stand for */

struct pthread __partita_thread = {
    .self = &__partita_thread,
    .prev = &__partita_thread,
    .next = &__partita_thread,
    .tid = 4242,
    .detach_state = DT_JOINABLE,
    .locale = &__libc.global_locale,
    .robust_list.head = &__partita_thread.robust_list.head,
};

__attribute__((constructor(0))) static void begin(void) {
  static size_t no_auxiliary_vector[2];
  __partita_errno(&__partita_thread.errno_val);
  libc.page_size = 4096;
  libc.auxv = no_auxiliary_vector;
  /* Standard output is not a terminal. musl finds this out at the first flush, and until then compares every byte
     with a newline: a fork per symbolic byte. */
  __stdout_FILE.lbf = -1;
}

void *__libc_malloc(size_t size) { return malloc(size); }
void *__libc_malloc_impl(size_t size) { return malloc(size); }
void *__libc_calloc(size_t count, size_t size) { return calloc(count, size); }
void *__libc_realloc(void *old, size_t size) { return realloc(old, size); }
void __libc_free(void *memory) { free(memory); }

int __pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*start)(void *),
                     void *restrict argument) {
  /* A failure would lead into code that no machine runs: `pthread_join` of a thread that does not exist. */
  __partita_unsupported("`pthread_create`: threads are not modelled");
}
weak_alias(__pthread_create, pthread_create);

#if __SIZEOF_POINTER__ == 4
#undef syscall
long syscall(long number, ...) {
  __partita_unsupported("`syscall` in a 32-bit program: the numbers of system calls are those of x86-64 here");
}
#endif

/* The executor calls functions registered with `atexit` and the program's destructors before this one. */
__attribute__((destructor(0))) static void flush(void) { __stdio_exit(); }
