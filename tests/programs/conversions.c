// conversions: numbers from text at their limits, sorting, searching
// EXPECT: paths=3 bug=none
#include "klee/klee.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void integers(void) {
  char *end;
  errno = 0;
  klee_assert(strtol("  -9223372036854775808x", &end, 10) == LONG_MIN && *end == 'x' && errno == 0);
  klee_assert(strtol("9223372036854775808", NULL, 10) == LONG_MAX && errno == ERANGE);
  klee_assert(strtoul("0xfFz", &end, 0) == 255 && *end == 'z');
  klee_assert(strtol("0x", &end, 16) == 0 && *end == 'x');
  klee_assert(strtoul("-1", NULL, 10) == ULONG_MAX);
  klee_assert(strtol("077", NULL, 0) == 63 && strtol("zz", NULL, 36) == 35 * 37);
  klee_assert(strtol("+", &end, 10) == 0 && *end == '+');
  klee_assert(atoi("-12a") == -12 && atol("  7") == 7 && atoll("") == 0);
}

static void floats(void) {
  char *end;
  errno = 0;
  klee_assert(strtod("0.1", NULL) == 0.1 && strtof("0.1", NULL) == 0.1f);
  klee_assert(strtod("-1.5e+3,", &end) == -1500 && *end == ',');
  klee_assert(strtod("1e", &end) == 1 && *end == 'e');
  klee_assert(strtod(".e1", &end) == 0 && *end == '.');
  klee_assert(strtod("2.2250738585072011e-308", NULL) > 0);
  klee_assert(isinf(strtod("-inFinity", &end)) && *end == 0);
  klee_assert(isnan(strtod("nanx", &end)) && *end == 'x');
  errno = 0;
  klee_assert(strtod("0e999", NULL) == 0 && errno == 0);
  klee_assert(strtod("1e400", NULL) == HUGE_VAL && errno == ERANGE);
  klee_assert(atof(" 17.25") == 17.25);
}

int main(void) {
  integers();
  floats();
  int a[5] = {3, -1, 4, 1, -5}, key = 4;
  qsort(a, 5, sizeof *a, order);
  for (int i = 1; i < 5; i++)
    klee_assert(a[i - 1] <= a[i]);
  klee_assert(bsearch(&key, a, 5, sizeof *a, order) == a + 4);
  char digits[3] = "0";
  digits[0] = (char)klee_range('0', '2' + 1, "digit");
  int n = atoi(digits);
  klee_assert(n == digits[0] - '0' && abs(-n) == n);
  switch (n) {
  case 0: return 0;
  case 1: return 1;
  case 2: return 2;
  default: klee_assert(0);
  }
}
