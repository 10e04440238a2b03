// SIZE symbolic numbers, each from `low` to `high`.
#include <klee/klee.h>

static int number[SIZE];

static void choose_numbers(int low, int high) {
  klee_make_symbolic(number, sizeof number, "number");
  for (int i = 0; i < SIZE; i++) {
    klee_assume(number[i] >= low);
    klee_assume(number[i] <= high);
  }
}
