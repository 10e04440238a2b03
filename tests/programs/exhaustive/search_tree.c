// tsearch and tfind with a symbolic key
#include "exhaustive.h"
#include <search.h>

static int order(const void *a, const void *b) { return (int)((long)a - (long)b); }

static long test(const unsigned char *in) {
  void *root = 0;
  long keys[3] = {5, in[0], 9};
  for (int i = 0; i < 3; i++) tsearch((void *)keys[i], &root, order);
  return tfind((void *)(long)(in[0] / 2), &root, order) != 0;
}
