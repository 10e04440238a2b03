// Eight bytes as an expression over two variables: compiled, evaluated, printed.
#include "tinyexpr.h"
#include <klee/klee.h>

static double sum(double a, double b) { return a + b; }
static double cell(void *context, double a) { return *(double *)context + a; }

int main(void) {
  char text[9];
  double x = 3, y = 4;
  int error;
  te_variable names[] = {{"x", &x, 0, 0}, {"y", &y, 0, 0}, {"f", sum, TE_FUNCTION2, 0}, {"c", cell, TE_CLOSURE1, &x}};
  klee_make_symbolic(text, sizeof text, "text");
  text[8] = 0;
  te_expr *found = te_compile(text, names, 4, &error);
  if (!found) return 1;
  double value = te_eval(found);
  te_print(found);
  te_free(found);
  te_interp("1+2", &error);
  return value > 1;
}
