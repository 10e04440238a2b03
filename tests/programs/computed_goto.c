// computed_goto: a stack machine that jumps through a table of labels and through label differences
// EXPECT: paths=2 bug=none
#include "klee/klee.h"

static int run(const unsigned char *code) {
  static const void *const table[] = {&&push, &&add, &&mul, &&halt};
  static const int distance[] = {0, (int)((char *)&&mul - (char *)&&add)};
  int stack[8], top = 0;
#define NEXT goto *table[*code++ & 3]
  NEXT;
push:
  stack[top++] = *code++;
  NEXT;
add:
  top--;
  stack[top - 1] += stack[top];
  NEXT;
mul:
  top--;
  stack[top - 1] *= stack[top];
  NEXT;
halt:
  return stack[0] + (distance[0] != 0);
}

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  unsigned char code[] = {0, 6, 0, n, 1, 0, 3, 2, 3};
  int r = run(code);
  klee_assert(r == (6 + n) * 3);
  if (r > 300)
    code[4] = 2;
  return run(code) == 6 * 100 * 3;
}
