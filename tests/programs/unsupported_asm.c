// unsupported_asm: barriers are ignored; other inline assembly ends only the paths that reach it
// EXPECT: paths=1 bug=none unsupported=1
#include "klee/klee.h"

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  int x = n;
  __asm__ volatile("" ::: "memory");
  __asm__("" : "+r"(x));
  klee_assert(x == n);
  if (n == 200) {
    unsigned a, d;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (int)a;
  }
  return 0;
}
