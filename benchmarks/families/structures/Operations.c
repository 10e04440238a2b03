// A calculator that executes SIZE symbolic instructions on two registers.
#include <klee/klee.h>

int main(void) {
  unsigned char code[SIZE];
  short value[SIZE];
  int a = 0, b = 1, faults = 0;
  klee_make_symbolic(code, sizeof code, "code");
  klee_make_symbolic(value, sizeof value, "value");
  for (int i = 0; i < SIZE; i++) {
    switch (code[i]) {
    case 0: a += value[i]; break;
    case 1: a -= value[i]; break;
    case 2: b = value[i]; break;
    case 3:
      if (b == 0) faults++;
      else a = a * 3 - b;
      break;
    case 4:
      if (a > b) a = b;
      break;
    case 5:
      if (a + b > 1000) return 1;
      break;
    case 6:
      if (2 * a < b) {
        int kept = a;
        a = b;
        b = kept;
      }
      break;
    default: return 2;
    }
  }
  return a > 100 && b < a ? 3 : faults;
}
