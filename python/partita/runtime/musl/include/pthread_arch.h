/* There is one thread. Its descriptor is a variable in `musl/process.c`. */
extern struct __pthread __partita_thread;

static inline uintptr_t __get_tp(void) { return (uintptr_t)&__partita_thread; }

#ifdef __x86_64__
#define MC_PC gregs[REG_RIP]
#else
#define MC_PC gregs[REG_EIP]
#endif
