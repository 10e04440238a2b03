// status: 0 3
#include "klee/klee.h"
#define C(i) case (i) * 37: n += (i); break;
#define C10(i) C(i) C(i + 1) C(i + 2) C(i + 3) C(i + 4) C(i + 5) C(i + 6) C(i + 7) C(i + 8) C(i + 9)
#define C100(i) C10(i) C10(i + 10) C10(i + 20) C10(i + 30) C10(i + 40) C10(i + 50) C10(i + 60) C10(i + 70) C10(i + 80) C10(i + 90)
#define C1000(i) C100(i) C100(i + 100) C100(i + 200) C100(i + 300) C100(i + 400) C100(i + 500) C100(i + 600) C100(i + 700) C100(i + 800) C100(i + 900)

int main(void) {
  unsigned x, n = 0;
  klee_make_symbolic(&x, sizeof x, "x");
  for (int k = 0; k < 3; k++)
    switch (x + k * 5) {
      C1000(0) C1000(1000) C1000(2000)
    default:
      n += 7;
    }
  return n & 1;
}
