// LENGTH symbolic numbers, sorted by insertion and by bubble sort: are the results the same?
#include <klee/klee.h>

static void insertion(int *a) {
  for (int i = 1; i < LENGTH; i++) {
    int number = a[i], at = i;
    for (; at > 0 && a[at - 1] > number; at--) a[at] = a[at - 1];
    a[at] = number;
  }
}

static void bubble(int *a) {
  for (int end = LENGTH - 1; end > 0; end--)
    for (int i = 0; i < end; i++)
      if (a[i] > a[i + 1]) {
        int kept = a[i];
        a[i] = a[i + 1];
        a[i + 1] = kept;
      }
}

int main(void) {
  int one[LENGTH], other[LENGTH];
  klee_make_symbolic(one, sizeof one, "one");
  klee_make_symbolic(other, sizeof other, "other");
  for (int i = 0; i < LENGTH; i++) klee_assume(one[i] == other[i]);
  insertion(one);
  bubble(other);
  for (int i = 0; i < LENGTH; i++) klee_assert(one[i] == other[i]);
  return 0;
}
