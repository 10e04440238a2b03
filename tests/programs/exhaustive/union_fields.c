// bit-fields of a union, signed ones and one that crosses a byte
#include "exhaustive.h"

static long test(const unsigned char *in) {
  union { struct { int a : 3; unsigned b : 7; signed char c : 2; } f; unsigned char bytes[4]; unsigned word; } u = {.word = 0};
  u.bytes[0] = in[0];
  u.bytes[1] = (unsigned char)(in[0] * 3);
  u.f.b += u.f.a;
  u.f.c = u.f.b;
  return u.f.a * 100 + u.f.b + u.f.c * 7 + u.bytes[1];
}
