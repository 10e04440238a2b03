// status: 0 1 3
#include "klee/klee.h"
#define G(n) int g##n;
#define G10(n) G(n##0) G(n##1) G(n##2) G(n##3) G(n##4) G(n##5) G(n##6) G(n##7) G(n##8) G(n##9)
#define G100(n) G10(n##0) G10(n##1) G10(n##2) G10(n##3) G10(n##4) G10(n##5) G10(n##6) G10(n##7) G10(n##8) G10(n##9)
#define G1000(n) G100(n##0) G100(n##1) G100(n##2) G100(n##3) G100(n##4) G100(n##5) G100(n##6) G100(n##7) G100(n##8) G100(n##9)
G1000(1) G1000(2) G1000(3) G1000(4) G1000(5)

int main(void) {
  long i, p;
  klee_make_symbolic(&i, sizeof i, "i");
  klee_make_symbolic(&p, sizeof p, "p");
  int *all[] = {&g1000, &g2111, &g3222, &g4333, &g5444};
  *all[i % 5u] = 1;
  return *(int *)p;
}
