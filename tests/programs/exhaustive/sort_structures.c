// qsort of structures by a field, and bsearch for a symbolic key
#include "exhaustive.h"

struct pair { int key; char value; };
static int by_key(const void *a, const void *b) { return ((const struct pair *)a)->key - ((const struct pair *)b)->key; }

static long test(const unsigned char *in) {
  struct pair v[4] = {{19, 1}, {23, 2}, {in[0] & 15, 3}, {32, 4}};
  qsort(v, 4, sizeof *v, by_key);
  struct pair key = {in[0] >> 4 | (in[0] & 16), 0}, *found = bsearch(&key, v, 4, sizeof *v, by_key);
  return (found ? found->value + 10 : 1) + v[0].key * 16;
}
