// assert_in_callee: the reported line is that of the assertion, three calls down
// EXPECT: paths=2 bug=assert:7
#include <assert.h>
#include "klee/klee.h"

static int check(unsigned x) {
  assert(x % 37 != 5);
  return x & 1;
}
static int twice(unsigned char c) { return check(c) + check(c + 256u); }

int main(void) {
  unsigned char c;
  klee_make_symbolic(&c, sizeof c, "c");
  if (c < 50)
    return twice(c);
  return 2;
}
