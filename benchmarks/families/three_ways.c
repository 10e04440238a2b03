// Three paths per byte of input, one bug among them: N chooses the number of paths.
#include <assert.h>
#include <klee/klee.h>
int main(void) {
  unsigned char x[N];
  unsigned sum = 0;
  klee_make_symbolic(x, sizeof x, "x");
  for (unsigned i = 0; i < N; i++) {
    if (x[i] > 200)
      sum += i + 1;
    else if (x[i] < 10)
      sum += 2;
  }
  assert(sum != 7);
  return 0;
}
