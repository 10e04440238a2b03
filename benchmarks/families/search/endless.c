// A parser whose loop does not advance on an unknown character: paths that meet one never end.
#include "klee/klee.h"

static int words, number, lists, depth, quoted;

int main(void) {
  char s[16];
  klee_make_symbolic(s, sizeof s, "s");
  s[15] = 0;
  int i = 0;
  for (;;) {
    char c = s[i];
    if (c == 0) break;
    if (c >= 'a' && c <= 'z') {
      words++;
      i++;
    } else if (c >= '0' && c <= '9') {
      number = number * 10 + c - '0';
      i++;
    } else if (c == '(') {
      lists++;
      depth++;
      i++;
    } else if (c == ')') {
      if (depth == 0) return 3;
      depth--;
      i++;
    } else if (c == '"') {
      i++;
      while (s[i] && s[i] != '"') i++;
      if (!s[i]) return 4;
      quoted++;
      i++;
    } else if (c == ' ') {
      i++;
    }
  }
  if (words == 3 && lists == 2) return 5;
  if (number == 123 && quoted) return 6;
  return depth ? 1 : 2;
}
