// A checksum makes the queries of one side expensive; all else to be found is on the other side.
#include "klee/klee.h"

int main(void) {
  unsigned char s[12];
  klee_make_symbolic(s, sizeof s, "s");
  if (s[0] == 'C') {
    unsigned sum = 1;
    for (int i = 1; i < 5; i++) {
      sum = sum * 31 + s[i];
      if (sum % 251 == 5) sum += i;
    }
    return sum % 1009 == 7;
  }
  int found = 0;
  if (s[1] == 'a') found |= 1;
  if (s[2] == 'b' && s[3] == 'c') found |= 2;
  if (s[4] > s[5] && s[5] > s[6]) found |= 4;
  if (s[7] == (s[8] ^ 0x5a)) found |= 8;
  switch (found) {
  case 15: return 4;
  case 14: return 3;
  case 7: return 2;
  default: return 1;
  }
}
