/* Which of N odd numbers is the product of two words of BITS bits? Every branch is a query that only `sat` answers. */
#include "klee/klee.h"
#ifndef N
#define N 24
#endif
#ifndef BITS
#define BITS 12
#endif

int main(void) {
    unsigned x, y;
    klee_make_symbolic(&x, sizeof x, "x");
    klee_make_symbolic(&y, sizeof y, "y");
    klee_assume(x > 1 & x < 1u << BITS);
    klee_assume(y > 1 & y <= x);
    unsigned product = x * y;
    for (unsigned i = 0; i < N; i++)
        if (product == (1u << (2 * BITS - 3)) + 2 * i + 1)
            return (int)i;
    return -1;
}
