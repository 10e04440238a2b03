// bsearch
#include "exhaustive.h"

static int order(const void *a, const void *b) { return *(const unsigned char *)a - *(const unsigned char *)b; }

static long test(const unsigned char *in) {
  static const unsigned char table[] = {3, 9, 77, 130, 200};
  const unsigned char *found = bsearch(in, table, sizeof table, 1, order);
  return found ? found - table : 9;
}
