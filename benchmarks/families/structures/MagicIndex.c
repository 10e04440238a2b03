// An index equal to its element in an ascending array: by bisection, then from the left.
#include "numbers.h"

int main(void) {
  choose_numbers(-100000, 100000);
  for (int i = 1; i < SIZE; i++)
    if (number[i - 1] >= number[i]) return 3;
  int low = 0, high = SIZE - 1, found = -1;
  while (low <= high) {
    int middle = (low + high) / 2;
    if (number[middle] == middle) {
      found = middle;
      break;
    }
    if (number[middle] < middle) low = middle + 1;
    else high = middle - 1;
  }
  int first = -1;
  for (int i = 0; i < SIZE && first < 0; i++)
    if (number[i] == i) first = i;
  klee_assert((found < 0) == (first < 0));
  return found >= 0;
}
