// a counter of attempts beside setjmp, which each longjmp finds as it was left
#include "exhaustive.h"

static jmp_buf place;
static void attempt(int k) { if (k > 3) longjmp(place, k); }

static long test(const unsigned char *in) {
  int attempts = 0;
  if (setjmp(place) > 4) return attempts;
  attempts++;
  attempt((in[0] & 7) + attempts);
  return 50 + attempts;
}
