// An interpreter of commands with a loop that many paths leave late: the rare commands need a prefix.
#include <string.h>
#include "klee/klee.h"

static int stack[4], top;

static int push(int value) {
  if (top == 4) return 1;
  stack[top++] = value;
  return 0;
}

static int pop(void) { return top ? stack[--top] : -1; }

int main(void) {
  char s[10];
  klee_make_symbolic(s, sizeof s, "s");
  for (int i = 0; i < 10; i++) {
    int a, b;
    switch (s[i]) {
    case '1':
    case '2':
    case '3':
      if (push(s[i] - '0')) return 2;
      break;
    case '+':
      b = pop();
      a = pop();
      if (a < 0) return 3;
      push(a + b);
      break;
    case '*':
      b = pop();
      a = pop();
      if (a < 0) return 4;
      push(a * b);
      break;
    case '=': return top == 1 && stack[0] == 12 ? 7 : 6;
    case '?': klee_silent_exit(0);
    default:
      if (s[i] < ' ') return 5;
    }
  }
  return 1;
}
