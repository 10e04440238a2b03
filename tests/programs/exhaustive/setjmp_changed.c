// local variables that are changed between setjmp and longjmp, without volatile: as compiled without optimisation
#include "exhaustive.h"

struct pair { int number; char letters[4]; };
static jmp_buf place;
static void jump(int value) { if (value > 7) longjmp(place, value & 3); }

static long test(const unsigned char *in) {
  int count = 0;
  const char *name = "a";
  double sum = 0.5;
  struct pair pair = {1, "x"};
  int array[2] = {1, 2};
  int value = setjmp(place);
  if (value == 0) {
    count = in[0], sum += count, name = "bc" + (count & 1);
    pair.number += count, pair.letters[1] = 'y', array[count & 1] = 5;
    jump(in[0]);
    return 200;
  }
  return count / 16 + (int)sum % 7 + name[0] + pair.number % 5 + pair.letters[1] + array[0] * 2 + array[1] + value;
}
