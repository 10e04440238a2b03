// A small XML parser: elements with attributes and text, nested up to DEPTH, in SIZE symbolic characters.
#include <klee/klee.h>

enum { DEPTH = 4 };
static char text[SIZE + 1];
static int at;

static int is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':'; }
static void skip_space(void) {
  while (text[at] == ' ' || text[at] == '\n') at++;
}
static int name(void) {
  int from = at;
  if (text[at] >= '0' && text[at] <= '9') return 0;
  while (is_name(text[at])) at++;
  return at - from;
}

static int attribute(void) {
  if (!name()) return 0;
  skip_space();
  if (text[at++] != '=') return 0;
  skip_space();
  char quote = text[at++];
  if (quote != '"' && quote != '\'') return 0;
  while (text[at] != quote) {
    if (text[at] == 0 || text[at] == '<') return 0;
    at++;
  }
  at++;
  return 1;
}

static int element(int depth) {
  if (depth == DEPTH || text[at++] != '<') return 0;
  int from = at, length = name();
  if (!length) return 0;
  for (;;) {
    skip_space();
    if (text[at] == '/') return text[at + 1] == '>' ? (at += 2, 1) : 0;
    if (text[at] == '>') break;
    if (!attribute()) return 0;
  }
  at++;
  for (;;) {
    if (text[at] == 0) return 0;
    if (text[at] != '<') {
      at++;
      continue;
    }
    if (text[at + 1] != '/') {
      if (!element(depth + 1)) return 0;
      continue;
    }
    at += 2;
    for (int i = 0; i < length; i++)
      if (text[at++] != text[from + i]) return 0;
    skip_space();
    return text[at++] == '>';
  }
}

int main(void) {
  klee_make_symbolic(text, sizeof text, "text");
  klee_assume(text[SIZE] == 0);
  skip_space();
  return element(0);
}
