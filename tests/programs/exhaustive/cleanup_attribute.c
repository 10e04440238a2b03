// the cleanup attribute: functions that run when a variable ends
#include "exhaustive.h"

static int sum;
static void add(int *value) { sum += *value; }

static int scope(int x) {
  __attribute__((cleanup(add))) int value = x;
  if (x > 100) return value;
  value = 1;
  return 2;
}

static long test(const unsigned char *in) {
  int result = scope(in[0]);
  return result + sum;
}
