// Bubble sort that stops when a round has exchanged nothing.
#include "numbers.h"

int main(void) {
  choose_numbers(-100000, 100000);
  int swapped = 1;
  for (int end = SIZE - 1; end > 0 && swapped; end--) {
    swapped = 0;
    for (int i = 0; i < end; i++)
      if (number[i] > number[i + 1]) {
        int kept = number[i];
        number[i] = number[i + 1];
        number[i + 1] = kept;
        swapped = 1;
      }
  }
  return 0;
}
