/* Replaces musl's start-up code: the thread's descriptor and the library's variables; memory from the executor; the
   final flush. Arguments, environment and files are in the kernel model (`posix/start.c`). */
#define _GNU_SOURCE
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include "libc.h"
#include "pthread_impl.h"
#include "stdio_impl.h"

_Noreturn void __partita_unsupported(const char *what);
void __partita_not_modelled(const char *what);
void *__partita_malloc(size_t size); /* these two do not fail with --malloc-fails, as in a replay */
void *__partita_calloc(size_t count, size_t size);
void __partita_errno(int *where);

/* Starts a thread: its first function and the argument of that, its descriptor, and the word to clear when it exits.
   Returns its number. */
int __partita_clone(int (*function)(void *), void *argument, void *descriptor, volatile int *clear);

enum { THREAD_ALIGNMENT = 16 };

volatile int __thread_list_lock;
extern FILE __stdout_FILE; /* not `stdout`, which a model may stand for */

static struct pthread first_thread;
struct pthread *__partita_self = &first_thread;
static struct pthread first_thread = {
    .self = &first_thread,
    .prev = &first_thread,
    .next = &first_thread,
    .tid = 4242,
    .detach_state = DT_JOINABLE,
    .locale = &__libc.global_locale,
    .robust_list.head = &first_thread.robust_list.head,
};

__attribute__((constructor(0))) static void begin(void) {
  static size_t no_auxiliary_vector[2];
  __partita_errno(&first_thread.errno_val);
  libc.can_do_threads = 1;
  libc.tls_size = sizeof(struct pthread) + THREAD_ALIGNMENT;
  libc.page_size = 4096;
  libc.auxv = no_auxiliary_vector;
  /* Standard output is not a terminal. musl finds this out at the first flush, and until then compares every byte
     with a newline: a fork per symbolic byte. */
  __stdout_FILE.lbf = -1;
}

void *__libc_malloc(size_t size) { return __partita_malloc(size); }
void *__libc_malloc_impl(size_t size) { return __partita_malloc(size); }
void *__libc_calloc(size_t count, size_t size) { return __partita_calloc(count, size); }
void *__libc_realloc(void *old, size_t size) { return realloc(old, size); }
void __libc_free(void *memory) { free(memory); }

/* Threads are musl's own, on top of these: variables of a thread are copied by the executor when it first uses them, so
   that only the descriptor is in its memory. */
void *__copy_tls(unsigned char *memory) {
  return (void *)(((uintptr_t)memory + THREAD_ALIGNMENT - 1) & -(uintptr_t)THREAD_ALIGNMENT);
}

int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...) {
  if (!(flags & CLONE_THREAD)) {
    __partita_not_modelled("system call clone");
    return -ENOSYS;
  }
  va_list more;
  va_start(more, argument);
  int *number = va_arg(more, int *);
  void *descriptor = va_arg(more, void *);
  int *clear = va_arg(more, int *);
  va_end(more);
  return *number = __partita_clone(function, argument, descriptor, clear);
}

_Noreturn void __unmapself(void *memory, size_t size) {
  __syscall(SYS_munmap, memory, size);
  for (;;) __syscall(SYS_exit, 0);
}

#if __SIZEOF_POINTER__ == 4
#undef syscall
long syscall(long number, ...) {
  __partita_unsupported("`syscall` in a 32-bit program: the numbers of system calls are those of x86-64 here");
}
#endif

/* The executor calls functions registered with `atexit` and the program's destructors before this one. */
__attribute__((destructor(0))) static void flush(void) { __stdio_exit(); }
