// LENGTH numbers, those at FIRST and (if it is defined) SECOND symbolic, sorted by SORT.
#include <klee/klee.h>
#include <stdint.h>

static int numbers[LENGTH], scratch[LENGTH];

static void swap(int *a, int *b) {
  int kept = *a;
  *a = *b;
  *b = kept;
}

static void bubble(int *a, int n) {
  for (int end = n - 1; end > 0; end--)
    for (int i = 0; i < end; i++)
      if (a[i] > a[i + 1]) swap(&a[i], &a[i + 1]);
}

static void insertion(int *a, int n) {
  for (int i = 1; i < n; i++) {
    int number = a[i], at = i;
    for (; at > 0 && a[at - 1] > number; at--) a[at] = a[at - 1];
    a[at] = number;
  }
}

static void selection(int *a, int n) {
  for (int i = 0; i < n; i++) {
    int least = i;
    for (int j = i + 1; j < n; j++)
      if (a[j] < a[least]) least = j;
    swap(&a[i], &a[least]);
  }
}

static void merge(int *a, int n) {
  if (n < 2) return;
  int half = n / 2, left = 0, right = half;
  merge(a, half);
  merge(a + half, n - half);
  for (int i = 0; i < n; i++) {
    int from_left = right == n || (left < half && a[left] <= a[right]);
    scratch[i] = from_left ? a[left++] : a[right++];
  }
  for (int i = 0; i < n; i++) a[i] = scratch[i];
}

static void quick(int *a, int n) {
  if (n < 2) return;
  int pivot = a[n - 1], low = 0;
  for (int i = 0; i < n - 1; i++)
    if (a[i] < pivot) swap(&a[i], &a[low++]);
  swap(&a[low], &a[n - 1]);
  quick(a, low);
  quick(a + low + 1, n - low - 1);
}

static void sink(int *a, int at, int n) {
  while (2 * at + 1 < n) {
    int child = 2 * at + 1;
    if (child + 1 < n && a[child + 1] > a[child]) child++;
    if (a[child] <= a[at]) return;
    swap(&a[at], &a[child]);
    at = child;
  }
}

static void heap(int *a, int n) {
  for (int at = n / 2; at-- > 0;) sink(a, at, n);
  for (int end = n - 1; end > 0; end--) {
    swap(&a[0], &a[end]);
    sink(a, 0, end);
  }
}

int main(void) {
  uint32_t state = 2463534242u;
  for (int i = 0; i < LENGTH; i++) {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    numbers[i] = (int)(state % 2000001u) - 1000000;
  }
  klee_make_symbolic(&state, sizeof state, "first");
  numbers[FIRST] = (int)state;
#ifdef SECOND
  klee_make_symbolic(&state, sizeof state, "second");
  numbers[SECOND] = (int)state;
#endif
  SORT(numbers, LENGTH);
  for (int i = 1; i < LENGTH; i++) klee_assert(numbers[i - 1] <= numbers[i]);
  return 0;
}
