// copies between overlapping ranges, accesses at odd addresses, variables after their block
// CHECK: alignment
#include "bugs.h"
#include <stdlib.h>
#include <string.h>

static volatile int sink;
static volatile unsigned length = 8;

static void overlapping_copy(int edge) {
  char text[32] = "abcdefghijklmnopqrstuvw";
  unsigned char n = byte_input("n");
  if (n <= 8 + edge)
    memcpy(text + 8, text, n); // BUG overlap
}

static void overlapping_place(int edge) {
  char text[32] = "abcdefghijklmnopqrstuvw";
  unsigned char at = byte_input("at");
  if (at >= 8 - edge && at < 20)
    memcpy(text + at, text, length); // BUG overlap
}

static void overlapping_string(int edge) {
  char text[32] = "abcdefg";
  unsigned char at = byte_input("at");
  if (at >= 8 - edge && at < 20)
    strcpy(text + at, text); // BUG overlap
}

static void moved(int edge) {
  char text[32] = "abcdefg";
  unsigned char n = byte_input("n");
  if (n < 16)
    memmove(text + 1 + edge, text, n);
  memcpy(text, text, n & 7);
}

static void odd_read(int edge) {
  long words[4] = {0};
  unsigned char at = byte_input("at");
  if (at <= 16 && (at & (edge ? 1 : 3)) == 0)
    sink = *(int *)((char *)words + at); // BUG alignment
}

static void odd_write(int edge) {
  char *p = malloc(16);
  *(short *)(p + 4 + edge) = 1; // BUG alignment
  free(p);
}

static void after_block(int edge) {
  int *p = malloc(4), *q = p;
  unsigned char i = byte_input("i");
  *p = 1;
  if (i > 200 - edge) {
    int inner = i;
    p = &inner;
  }
  if (i <= 200)
    sink = *p; // BUG use-after-free
  free(q);
}

static void block_again(int edge) {
  char *last = malloc(1), *first = last;
  for (int i = 0; i < 3; i++) {
    char inner[4];
    inner[3] = (char)i;
    *last = 1;
    if (i == (edge ? 1 : 2))
      last = inner;
    else
      last = first;
    sink = inner[3];
  }
  last = edge ? last : first;
  sink = *last;
  free(first);
}

CASES(overlapping_copy, overlapping_place, overlapping_string, moved, odd_read, odd_write, after_block, block_again)
