// A state machine by a table: each state leads to few others, the last one is far.
#include "klee/klee.h"

static const unsigned char next[8][4] = {{0, 1, 0, 0}, {1, 0, 2, 0}, {0, 2, 3, 0}, {3, 0, 0, 4},
                                         {0, 5, 0, 0}, {5, 0, 6, 0}, {0, 0, 6, 7}, {7, 7, 7, 7}};

int main(void) {
  unsigned char s[14];
  klee_make_symbolic(s, sizeof s, "s");
  int state = 0, steps = 0;
  for (int i = 0; i < 14; i++) {
    int class = s[i] == 'x' ? 1 : s[i] == 'y' ? 2 : s[i] == 'z' ? 3 : 0;
    state = next[state][class];
    if (state == 7) {
      if (steps == 0) return 3;
      return 2;
    }
    if (state == 3) steps++;
    if (state == 6 && s[i] == 'q') return 4;
  }
  return state == 6 ? 5 : 1;
}
