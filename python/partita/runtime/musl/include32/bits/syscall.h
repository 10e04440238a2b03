/* 32-bit programs: the kernel model has the numbers of x86-64, and so has what calls it. The compiler is told where they
   are. `lseek` returns an offset of 64 bits through a pointer, as on other 32-bit machines. */
#include PARTITA_SYSCALLS
#define SYS__llseek 9000
