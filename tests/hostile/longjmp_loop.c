// status: 3
#include "klee/klee.h"
#include <setjmp.h>

static jmp_buf buffer;
int main(void) {
  char c;
  volatile int n = 0;
  klee_make_symbolic(&c, 1, "c");
  setjmp(buffer);
  n++;
  if (c > n % 100)
    longjmp(buffer, 1);
  longjmp(buffer, 2);
}
