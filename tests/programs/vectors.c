// vectors: elementwise arithmetic, comparison, shuffle, and elements by variable index
// EXPECT: paths=1 bug=none
#include "klee/klee.h"

typedef int v4 __attribute__((vector_size(16)));
typedef unsigned char v16 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(16)));

static v4 fill(v4 v, int at, int value) {
  v[at & 3] = value;
  return v;
}

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  v4 a = {1, 2, 3, 4}, b = {10, 20, 30, n};
  v4 sum = a * b - a;
  klee_assert(sum[0] == 9 && sum[3] == 4 * n - 4);
  v4 turned = __builtin_shufflevector(sum, a, 3, 2, 5, 0);
  klee_assert(turned[0] == sum[3] && turned[2] == 2);
  v4 less = a < b;
  v4 filled = fill(a, n, 77);
  klee_assert(filled[n & 3] == 77);
  v16 bytes = (v16)a;
  klee_assert(bytes[4] == 2 && bytes[12] == 4);
  f4 f = {1, 2, 3, 4};
  f = f * f + 0.5f;
  klee_assert(f[3] == 16.5f);
  return less[3] ? 1 : 0;
}
