/* The descriptor of the running thread; the executor changes it when threads switch. */
extern struct __pthread *__partita_self;

static inline uintptr_t __get_tp(void) { return (uintptr_t)__partita_self; }

#ifdef __x86_64__
#define MC_PC gregs[REG_RIP]
#else
#define MC_PC gregs[REG_EIP]
#endif
