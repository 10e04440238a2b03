// function_pointers: calls through tables, arguments and structures
// EXPECT: paths=3 bug=none
#include "klee/klee.h"

typedef int (*op)(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static const op table[] = {add, sub, mul};
struct machine { op run; int acc; };

static int apply(op f, int a, int b) { return f(a, b); }

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  int which = n > 200 ? 2 : n > 100 ? 1 : 0;
  struct machine m = {table[which], 6};
  m.acc = m.run(m.acc, 7);
  klee_assert(m.acc == apply(table[which], 6, 7));
  klee_assert(m.acc == (which == 0 ? 13 : which == 1 ? -1 : 42));
  return m.run == mul;
}
