// Most states wait in a loop over all lengths; the rest of the program comes after it.
#include "klee/klee.h"

static int check(const char *s, int n) {
  int odd = 0;
  for (int i = 0; i < n; i++)
    if (s[i] & 1) odd++;
  return odd;
}

int main(void) {
  char s[24];
  klee_make_symbolic(s, sizeof s, "s");
  int n = 0;
  while (n < 24 && s[n] != '\n') n++;
  if (n == 24) return 9;
  int odd = check(s, n);
  if (n > 3 && s[0] == '#' && s[1] == '!') return 8;
  if (n == 7 && odd == 7) return 7;
  if (n == 12 && odd == 0) return 6;
  if (odd > 9) return 5;
  return n ? 1 : 0;
}
