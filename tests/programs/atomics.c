// atomics: read-modify-write and compare-exchange in one thread
// EXPECT: paths=2 bug=none
#include <stdatomic.h>
#include "klee/klee.h"

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  _Atomic int counter = 5;
  counter += n;
  klee_assert(atomic_fetch_sub(&counter, 2) == 5 + n);
  int expected = 103;
  int swapped = atomic_compare_exchange_strong(&counter, &expected, 1);
  klee_assert(swapped == (n == 100));
  klee_assert(expected == (swapped ? 103 : 3 + n));
  return atomic_exchange(&counter, 0) == 1 ? 1 : 0;
}
