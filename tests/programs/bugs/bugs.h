// What the programs of this folder share. Each has several cases; in every one of them a bug is just reachable where `edge`
// is 1 and just not where it is 0. The line of a bug says so: `BUG class`. Nothing else may be found, and each input must do
// the same under gcc's sanitizers.
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

// Calls one of the cases, on a path of its own.
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
