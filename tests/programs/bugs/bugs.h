// Shared by the programs of this folder. Each has several cases; in each case a bug is just reachable if `edge` is 1 and
// just unreachable if it is 0. A comment `BUG class` marks the line. No other bug may be found, and each input must have
// the same effect under gcc's sanitizers.
#include <klee/klee.h>
#include <stdint.h>

static int edge_input(void) {
  unsigned char edge;
  klee_make_symbolic(&edge, sizeof edge, "edge");
  if (edge)
    return 1;
  return 0;
}

static unsigned char byte_input(const char *name) {
  unsigned char byte;
  klee_make_symbolic(&byte, sizeof byte, name);
  return byte;
}

// Calls one of the cases; each has its own path.
#define CASES(...) \
  int main(void) { \
    static void (*const cases[])(int) = {__VA_ARGS__}; \
    unsigned char which = byte_input("which"); \
    int edge = edge_input(); \
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) \
      if (which == i) \
        cases[i](edge); \
    return 0; \
  }
