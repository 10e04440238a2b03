// libtommath: parses two numbers, multiplies, divides and compares them.
#include <klee/klee.h>
#include <tommath.h>

int main(void) {
  char first[5], second[4];
  mp_int a, b, product, rest;
  klee_make_symbolic(first, sizeof first, "first");
  klee_make_symbolic(second, sizeof second, "second");
  klee_assume(first[4] == 0);
  klee_assume(second[3] == 0);
  if (mp_init_multi(&a, &b, &product, &rest, NULL) != MP_OKAY) return 1;
  if (mp_read_radix(&a, first, 10) != MP_OKAY || mp_read_radix(&b, second, 16) != MP_OKAY) return 2;
  if (mp_mul(&a, &b, &product) != MP_OKAY) return 3;
  if (mp_div(&a, &b, NULL, &rest) != MP_OKAY) return 4;
  return mp_cmp(&product, &rest) == MP_LT;
}
