// a thread-local variable through its address
#include "exhaustive.h"

static _Thread_local int value = 3;

static long test(const unsigned char *in) {
  int *at = &value;
  *at += in[0];
  return value;
}
