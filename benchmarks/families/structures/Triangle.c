// SIZE triangles, each classified by its sides; the squares of right ones are products of symbolic numbers.
#include <klee/klee.h>

enum { NONE, SCALENE, ISOSCELES, EQUILATERAL, RIGHT };

static int kind(int a, int b, int c) {
  if (a <= 0 || b <= 0 || c <= 0) return NONE;
  if (a + b <= c || a + c <= b || b + c <= a) return NONE;
  if (a == b && b == c) return EQUILATERAL;
  if (a * a + b * b == c * c || a * a + c * c == b * b || b * b + c * c == a * a) return RIGHT;
  if (a == b || b == c || a == c) return ISOSCELES;
  return SCALENE;
}

int main(void) {
  unsigned char side[SIZE][3];
  int kinds = 0;
  klee_make_symbolic(side, sizeof side, "side");
  for (int i = 0; i < SIZE; i++)
    if (kind(side[i][0], side[i][1], side[i][2]) == RIGHT) kinds++;
  return kinds;
}
