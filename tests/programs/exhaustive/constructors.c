// the order of constructors
#include "exhaustive.h"

static int order;
__attribute__((constructor(200))) static void b(void) { order = order * 10 + 2; }
__attribute__((constructor(101))) static void a(void) { order = order * 10 + 1; }
__attribute__((constructor)) static void c(void) { order = order * 10 + 3; }

static long test(const unsigned char *in) {
  return order + in[0];
}
