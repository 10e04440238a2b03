// struct_by_value: structures of every argument class are copied; the callee's changes do not reach the caller
// EXPECT: paths=1 bug=none
#include "klee/klee.h"

struct small { int a, b; };
struct mixed { double d; long l; };
struct large { long v[5]; char c; };

static struct small swap(struct small s) {
  int t = s.a;
  s.a = s.b;
  s.b = t;
  return s;
}

static struct mixed scale(struct mixed m, int by) {
  m.l *= by;
  m.d = (double)m.l;
  return m;
}

static long total(struct large x) {
  long sum = x.c;
  for (int i = 0; i < 5; i++) {
    sum += x.v[i];
    x.v[i] = 0;
  }
  return sum;
}

static struct large make(int n) {
  struct large x;
  for (int i = 0; i < 5; i++)
    x.v[i] = n + i;
  x.c = 1;
  return x;
}

int main(void) {
  unsigned char n;
  klee_make_symbolic(&n, sizeof n, "n");
  struct small s = swap((struct small){n, 7});
  klee_assert(s.a == 7 && s.b == n);
  struct mixed m = scale((struct mixed){0.5, 3}, 4);
  klee_assert(m.l == 12 && m.d == 12.0);
  struct large x = make(n);
  long first = total(x);
  klee_assert(first == total(x));
  return n > 100 ? 1 : 0;
}
