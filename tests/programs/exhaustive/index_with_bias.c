// pointers that are moved far and back, by as much as neighbouring objects are apart: optimisers write such code
#include "exhaustive.h"

static int table[4] = {5, 6, 7, 8};
static int other[4] = {1, 2, 3, 4};

static long moved(const int *p, int at, int bias) {
  const int *far = p + (at * 2 + 9 * bias) / 9;
  return *(far - bias);
}

static long test(const unsigned char *in) {
  int local[4] = {11, 12, 13, 14}, *heap = malloc(sizeof local);
  memcpy(heap, other, sizeof other);
  int at = in[0] >> 3;
  switch (in[0] & 7) {
  case 0: return moved(table, at % 16, 16384);
  case 1: return moved(local, at % 16, 16384);
  case 2: return moved(heap, at % 16, 16384);
  case 3: return moved(at & 1 ? table : other, at % 16, 16384);
  case 4: return moved(table, at % 16, 32768); // four bytes each: the neighbour's address
  case 5: return moved(local, at % 16, 32768);
  case 6: return moved(heap, at % 16, 32768);
  default: return moved(at & 1 ? table : other, at % 16, 32768);
  }
}
