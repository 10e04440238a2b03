// string_tables: keywords looked up in a sorted table of strings
// EXPECT: paths=8 bug=none
#include "klee/klee.h"

static const char *const words[] = {"auto", "break", "case", "do", "else"};
static const char names[3][4] = {"one", "two", "six"};

static int compare(const char *a, const char *b) {
  while (*a && *a == *b)
    a++, b++;
  return (unsigned char)*a - (unsigned char)*b;
}

static int find(const char *s) {
  int low = 0, high = sizeof words / sizeof *words;
  while (low < high) {
    int middle = (low + high) / 2, c = compare(s, words[middle]);
    if (c == 0)
      return middle;
    if (c < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return -1;
}

int main(void) {
  char c;
  klee_make_symbolic(&c, sizeof c, "c");
  char text[3] = {c, 'o'};
  int at = find(text);
  klee_assert(names[1][0] == 't' && find("case") == 2 && find("zzz") == -1);
  klee_assert((at == 3) == (c == 'd'));
  return at + 1;
}
