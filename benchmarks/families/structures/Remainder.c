// The remainder of a division by repeated subtraction, for all combinations of signs; at most SIZE rounds.
#include <klee/klee.h>

static int remainder_of(int a, int b) {
  int rounds = 0, r;
  if (b == 0) return -1;
  if (a >= 0 && b > 0) {
    for (r = a; r >= b && rounds < SIZE; rounds++) r -= b;
  } else if (a < 0 && b > 0) {
    for (r = a; r < 0 && rounds < SIZE; rounds++) r += b;
  } else if (a >= 0) {
    for (r = a; r + b >= 0 && rounds < SIZE; rounds++) r += b;
  } else {
    for (r = a; r <= b && rounds < SIZE; rounds++) r -= b;
  }
  if (rounds < SIZE) klee_assert(b > 0 ? r < b : r > b);
  return rounds;
}

int main(void) {
  int a, b;
  klee_make_symbolic(&a, sizeof a, "a");
  klee_make_symbolic(&b, sizeof b, "b");
  klee_assume(a >= -1000);
  klee_assume(a <= 1000);
  klee_assume(b >= -1000);
  klee_assume(b <= 1000);
  return remainder_of(a, b) & 127;
}
