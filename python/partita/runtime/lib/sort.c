/* Sorting as musl does it, so that a replay compares the same elements in the same order: the order of equal elements and
   the number of comparisons can be seen. Smoothsort (E. W. Dijkstra, Smoothsort, an alternative for sorting in situ, 1981),
   after musl's qsort.c (Copyright (C) 2011 by Valentin Ochs, MIT licence).

   The elements before `head` are heaps whose sizes are Leonardo numbers: 1, 1, and each next is the sum of two and 1. Their
   orders decrease; bit i of `orders` says whether there is a heap of order `least` + i. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERS = 64, BLOCK = 256 };

struct heaps {
  size_t width;
  int (*compare)(const void *, const void *, void *);
  void *argument;
  uint64_t orders;
  int least;
  size_t sizes[ORDERS]; /* of a heap of each order, in bytes */
};

static int compared(const struct heaps *heaps, const char *a, const char *b) {
  return heaps->compare(a, b, heaps->argument);
}

/* Distance from the lowest set bit to the next one. */
static int next_bit(uint64_t orders) {
  int distance = 0;
  do orders >>= 1, distance++;
  while (orders && !(orders & 1));
  return orders ? distance : 0;
}

/* Each element moves to the place of the one before, the first to that of the last. */
static void rotate(char *elements[], int count, size_t width) {
  char first[BLOCK];
  if (count < 2) return;
  elements[count] = first;
  while (width) {
    size_t size = width < BLOCK ? width : BLOCK;
    memcpy(first, elements[0], size);
    elements[count] = first;
    for (int i = 0; i < count; i++) {
      memcpy(elements[i], elements[i + 1], size);
      elements[i] += size;
    }
    width -= size;
  }
}

/* Moves the root of a heap down to its place. */
static void sift(const struct heaps *heaps, char *root, int order) {
  char *moved[ORDERS + 2] = {root};
  int count = 1;
  for (char *at = root; order > 1;) {
    char *right = at - heaps->width, *left = right - heaps->sizes[order - 2];
    if (compared(heaps, root, left) >= 0 && compared(heaps, root, right) >= 0) break;
    int goes_left = compared(heaps, left, right) >= 0;
    moved[count++] = at = goes_left ? left : right;
    order -= goes_left ? 1 : 2;
  }
  rotate(moved, count, heaps->width);
}

/* Moves the root of the last heap to the heaps before it until the roots are in order. `is_heap`: its children are not
   larger than the root. */
static void settle(const struct heaps *heaps, char *root, uint64_t orders, int order, int is_heap) {
  char *moved[ORDERS + 2] = {root}, *at = root;
  int count = 1;
  while (orders != 1) {
    char *before = at - heaps->sizes[order];
    if (compared(heaps, before, root) <= 0) break;
    if (!is_heap && order > 1) {
      char *right = at - heaps->width, *left = right - heaps->sizes[order - 2];
      if (compared(heaps, right, before) >= 0 || compared(heaps, left, before) >= 0) break;
    }
    moved[count++] = at = before;
    int distance = next_bit(orders);
    orders >>= distance;
    order += distance;
    is_heap = 0;
  }
  if (is_heap) return;
  rotate(moved, count, heaps->width);
  sift(heaps, at, order);
}

void qsort_r(void *base, size_t count, size_t width, int (*compare)(const void *, const void *, void *), void *argument) {
  struct heaps heaps = {width, compare, argument, 1, 1, {width, width}};
  size_t size = width * count;
  if (!size) return;
  char *head = base, *last = head + size - width;
  for (int i = 2; i < ORDERS && heaps.sizes[i - 1] < size; i++)
    heaps.sizes[i] = heaps.sizes[i - 2] + heaps.sizes[i - 1] + width;
  for (; head < last; head += width) {
    if ((heaps.orders & 3) == 3) { /* two neighbouring orders: with the next element they are one heap */
      sift(&heaps, head, heaps.least);
      heaps.orders >>= 2;
      heaps.least += 2;
    } else {
      int is_final = heaps.sizes[heaps.least - 1] >= (size_t)(last - head); /* no later element makes it a larger heap */
      if (is_final) settle(&heaps, head, heaps.orders, heaps.least, 0);
      else sift(&heaps, head, heaps.least);
      int shift = heaps.least == 1 ? 1 : heaps.least - 1;
      heaps.orders <<= shift;
      heaps.least -= shift;
    }
    heaps.orders |= 1;
  }
  settle(&heaps, head, heaps.orders, heaps.least, 0);
  for (; heaps.least != 1 || heaps.orders != 1; head -= width) {
    if (heaps.least <= 1) {
      int distance = next_bit(heaps.orders);
      heaps.orders >>= distance;
      heaps.least += distance;
    } else { /* without its root the heap is two */
      heaps.least -= 2;
      heaps.orders = (heaps.orders << 2 ^ 7) >> 1;
      settle(&heaps, head - heaps.sizes[heaps.least] - width, heaps.orders, heaps.least + 1, 1);
      heaps.orders = heaps.orders << 1 | 1;
      settle(&heaps, head - width, heaps.orders, heaps.least, 1);
    }
  }
}

struct plain {
  int (*compare)(const void *, const void *);
};

static int compare_plain(const void *a, const void *b, void *plain) { return ((struct plain *)plain)->compare(a, b); }

void qsort(void *base, size_t count, size_t width, int (*compare)(const void *, const void *)) {
  qsort_r(base, count, width, compare_plain, &(struct plain){compare});
}
