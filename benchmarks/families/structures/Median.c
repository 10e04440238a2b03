// The median by counting, then the positions of the others relative to it.
#include "numbers.h"

int main(void) {
  choose_numbers(-100000, 100000);
  for (int i = 0; i < SIZE; i++) {
    int below = 0, equal = 0;
    for (int j = 0; j < SIZE; j++)
      if (number[j] < number[i]) below++;
      else if (number[j] == number[i]) equal++;
    if (below <= SIZE / 2 && below + equal > SIZE / 2) {
      int near = 0;
      for (int j = 0; j < SIZE; j++)
        if (number[j] - number[i] < 10 && number[i] - number[j] < 10) near++;
      return near;
    }
  }
  klee_assert(0);
  return 0;
}
