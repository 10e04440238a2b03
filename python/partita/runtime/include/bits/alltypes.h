/* `pthread_t` in C as glibc has it, a number. Programs that are compiled here were written for glibc: some repeat its
 * typedef, print it or compare it with 0. In musl it is a pointer of the same size, and stays one in musl's own files. */
#if defined(__NEED_pthread_t) && !defined(__DEFINED_pthread_t) && !defined(PARTITA_MUSL)
typedef unsigned long pthread_t;
#define __DEFINED_pthread_t
#endif

#include_next <bits/alltypes.h>
