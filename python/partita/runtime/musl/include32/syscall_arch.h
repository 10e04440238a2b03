/* System calls of musl in 32-bit programs: calls of one function, the kernel model (`posix/kernel.c`), which takes
   numbers of 64 bits. A pointer is zero-extended to them, any other argument according to its type. */
#define __SYSCALL_LL_E(x) (x)
#define __SYSCALL_LL_O(x) (x)
#define __scc(X) sizeof(1 ? (X) : 0ULL) < 8 ? (unsigned long)(X) : (long long)(X)
typedef long long syscall_arg_t;

long long __partita_syscall(long long number, long long a, long long b, long long c, long long d, long long e, long long f);

static inline long __syscall0(long long n) { return __partita_syscall(n, 0, 0, 0, 0, 0, 0); }
static inline long __syscall1(long long n, long long a) { return __partita_syscall(n, a, 0, 0, 0, 0, 0); }
static inline long __syscall2(long long n, long long a, long long b) { return __partita_syscall(n, a, b, 0, 0, 0, 0); }
static inline long __syscall3(long long n, long long a, long long b, long long c) {
  return __partita_syscall(n, a, b, c, 0, 0, 0);
}
static inline long __syscall4(long long n, long long a, long long b, long long c, long long d) {
  return __partita_syscall(n, a, b, c, d, 0, 0);
}
static inline long __syscall5(long long n, long long a, long long b, long long c, long long d, long long e) {
  return __partita_syscall(n, a, b, c, d, e, 0);
}
static inline long __syscall6(long long n, long long a, long long b, long long c, long long d, long long e,
                              long long f) {
  return __partita_syscall(n, a, b, c, d, e, f);
}

#define IPC_64 0
