// Failed checks of -fsanitize: one case each, chosen by an input. The mark has the class and the message.
#include <klee/klee.h>
#include <limits.h>
#include <stddef.h>

static int sink, table[4];
static volatile int number;
enum kind { RED, GREEN };

__attribute__((returns_nonnull)) static int *never_null(int *p) {
  return p; // BUG null: null is returned where it must not be
}
__attribute__((nonnull)) static void use(int *p) { sink = p == &sink; }

int main(void) {
  unsigned char which;
  klee_make_symbolic(&which, sizeof which, "which");
  int x = number, none = 0;
  unsigned char byte = 255;
  switch (which) {
  case 0: x = INT_MAX; sink = x + 1; break; // BUG overflow: addition of `int` overflows: 2147483647 + 1
  case 1: x = INT_MIN; sink = x - 2; break; // BUG overflow: subtraction of `int` overflows: -2147483648 - 2
  case 2: x = 1 << 16; sink = x * x; break; // BUG overflow: multiplication of `int` overflows: 65536 * 65536
  case 3: x = INT_MIN; sink = -x; break; // BUG overflow: negation of `int` overflows: -2147483648
  case 4: x = INT_MIN; sink = x / -1; break; // BUG overflow: division of `int` overflows: -2147483648 / -1
  case 5: sink = 7 % none; break; // BUG division-by-zero: division or remainder by zero
  case 6: x = 33; sink = 1 << x; break; // BUG shift: shift of `int` by `int` is undefined: 1 by 33
  case 7: x = -3; sink = x << 1L; break; // BUG shift: shift of `int` by `long` is undefined: -3 by 1
  case 8: x = 4; sink = table[x]; break; // BUG bounds: index 4 is outside of `int[4]`
  case 9: __builtin_unreachable(); // BUG unreachable: code that the compiler assumed unreachable
  case 10: { int v[none]; v[0] = 1; break; } // BUG sanitizer: length of a variable-length array is 0
  case 11: { signed char c = (signed char)(x + 1000.5); sink = c; break; } // BUG float-cast: value 1000.5 of `double` is outside of `signed char`
  case 12: { _Bool b; *(char *)&b = 2; sink = b; break; } // BUG sanitizer: load of 2, which is no value of `_Bool`
  case 13: x = 300; byte = x; break; // BUG sanitizer: conversion of 300 from `int` to `unsigned char` changes it to 44
  case 14: { unsigned u = UINT_MAX; sink = (int)((u + 1) & 1); break; } // BUG overflow: addition of `unsigned int` overflows: 4294967295 + 1
  case 15: sink = __builtin_ctz((unsigned)none); break; // BUG sanitizer: a builtin function gets 0, or an assumption does not hold
  case 16: { int *p = NULL; sink = *p; break; } // BUG null: access through a null pointer to `int`
  case 17: never_null(none ? &sink : NULL); break;
  case 18: use(none ? &sink : NULL); break; // BUG null: null is passed where it must not be
  case 19: { char *p = (char *)table; p = p - ((size_t)p + 16); sink = p == 0; break; } // BUG sanitizer: pointer arithmetic overflows
  case 20: { __int128 w = (__int128)1 << 126; w = w + w; sink = w > 0; break; } // BUG overflow: addition of `__int128` overflows: 85070591730234615865843651857942052864 + 85070591730234615865843651857942052864
  }
  return byte == 0;
}
