// status: 1
#include "klee/klee.h"

static int f(int n) { return n + f(n + 1); }
int main(void) { return f(0); }
