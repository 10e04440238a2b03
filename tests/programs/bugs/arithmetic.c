// arithmetic: division, signed overflow, shifts
// CHECK: overflow,shift
#include "bugs.h"
#include <limits.h>

static volatile int sink;
static volatile long long_sink;

static int int_input(void) {
  int x;
  klee_make_symbolic(&x, sizeof x, "x");
  return x;
}

static void division(int edge) {
  unsigned char i = byte_input("i");
  if (i >= 1 - edge)
    sink = 100 / i; // BUG division-by-zero
}

static void remainder_of_zero(int edge) {
  unsigned x = (unsigned)int_input();
  if ((x & 7) != 7 || edge)
    sink = (int)(5u % ((x & 7) - 7)); // BUG division-by-zero
}

static void division_overflows(int edge) {
  int x = int_input();
  if (x > INT_MIN || edge)
    sink = x / -1; // BUG overflow
}

static void addition(int edge) {
  int x = int_input();
  if (x <= INT_MAX - 10 + edge)
    sink = x + 10; // BUG overflow
}

static void subtraction(int edge) {
  int x = int_input();
  if (x >= INT_MIN + 1 - edge)
    sink = x - 1; // BUG overflow
}

static void multiplication(int edge) {
  int x = int_input();
  if (x >= 0 && x <= 46340 + edge)
    sink = x * x; // BUG overflow
}

static void long_multiplication(int edge) {
  long x = int_input();
  if (x >= INT_MIN && x < 1000 + edge)
    if (x > 0)
      long_sink = x * (LONG_MAX / 999); // BUG overflow
}

static void negation(int edge) {
  int x = int_input();
  if (x != INT_MIN || edge)
    sink = -x; // BUG overflow
}

static void no_overflow(int edge) {
  unsigned x = (unsigned)int_input();
  unsigned char c = (unsigned char)x;
  c++;
  sink = (int)(x * x + UINT_MAX + c - (unsigned)edge);
}

static void left_shift(int edge) {
  unsigned char i = byte_input("i");
  if (i < 32 + edge)
    sink = (int)(1u << i); // BUG shift
}

static void right_shift(int edge) {
  unsigned char i = byte_input("i");
  if (i < 64 + edge)
    long_sink = LONG_MAX >> i; // BUG shift
}

static void negative_shift(int edge) {
  int i = byte_input("i") - 1;
  if (i >= -edge && i < 5)
    sink = 77 >> i; // BUG shift
}

static void signed_left_shift(int edge) {
  int x = byte_input("x");
  if (x < 128 + edge)
    sink = x << 24; // BUG shift
}

static void shift_of_negative(int edge) {
  int x = byte_input("x");
  if (x >= 1 - edge)
    sink = (x - 1) << 2; // BUG shift
}

CASES(division, remainder_of_zero, division_overflows, addition, subtraction, multiplication, long_multiplication, negation,
      no_overflow, left_shift, right_shift, negative_shift, signed_left_shift, shift_of_negative)
