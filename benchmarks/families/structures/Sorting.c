// Compares insertion sort with merge sort on equal numbers.
#include "numbers.h"

static void insertion(int *a) {
  for (int i = 1; i < SIZE; i++) {
    int value = a[i], at = i;
    for (; at > 0 && a[at - 1] > value; at--) a[at] = a[at - 1];
    a[at] = value;
  }
}

static void merge(int *a, int *room, int from, int to) {
  if (to - from < 2) return;
  int middle = (from + to) / 2, left = from, right = middle;
  merge(a, room, from, middle);
  merge(a, room, middle, to);
  for (int i = from; i < to; i++)
    room[i] = right == to || (left < middle && a[left] <= a[right]) ? a[left++] : a[right++];
  for (int i = from; i < to; i++) a[i] = room[i];
}

int main(void) {
  int other[SIZE], room[SIZE];
  choose_numbers(-100000, 100000);
  for (int i = 0; i < SIZE; i++) other[i] = number[i];
  insertion(number);
  merge(other, room, 0, SIZE);
  for (int i = 0; i < SIZE; i++) klee_assert(number[i] == other[i]);
  return 0;
}
