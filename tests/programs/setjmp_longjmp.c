// setjmp_longjmp: out of nested calls, twice to one place, with symbolic values, past the scope of locals
// EXPECT: paths=5 bug=model-error:38
#include "klee/klee.h"
#include <setjmp.h>

static jmp_buf outer, inner;

static int search(const unsigned char *text, int at) {
  char local[3] = {1, 2, 3};
  if (text[at] == '(')
    longjmp(outer, at + 1);
  if (text[at] == 0)
    longjmp(inner, 0);
  return search(text, at + 1) + local[at];
}

static int stale(void) { return setjmp(inner); }

int main(void) {
  unsigned char text[3];
  klee_make_symbolic(text, sizeof text, "text");
  text[2] = 0;
  volatile int tries = 0;
  int found = setjmp(outer);
  if (found > 2)
    return found;
  if (found) {
    klee_assert(text[found - 1] == '(' && tries == 1);
    klee_assert(found == 1 || text[0] != 0);
    if (found == 2)
      longjmp(outer, 3 + (text[0] == 'x'));
    return found;
  }
  tries++;
  if (setjmp(inner) == 0)
    return search(text, 0);
  stale();
  longjmp(inner, 5);
}
