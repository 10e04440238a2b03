// status: 1
#include "klee/klee.h"

static int g(char *p, int n);
static int f(char *p, int n) { char b[4000]; b[n % 4000] = 1; return g(b, n + 1) + b[7]; }
static int g(char *p, int n) { char b[4000]; b[0] = p[n % 4000]; return f(b, n + 1) + b[0]; }
int main(void) { char c[4000] = {0}; return f(c, 0); }
