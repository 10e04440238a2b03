/* Exception flags of arithmetic, comparisons and conversions in every rounding mode, and the functions of fenv.h. */
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static double d[] = {0, 1, 3, 0.1, 1e308, 0x1p-1022, 0x1p-1074, 0x1.8p-1022, 0x1.fffffffffffffp-1023, 0x1.fffffffffffffp1023, -1, -0.1, -0x1p-537, 0x1.0000000000001p-511, 0x1.8p-512, INFINITY, 2.5, 1e10, 1e19};
static float s[] = {0, 1, 3, 0.1f, 1e38f, 0x1p-126f, 0x1p-149f, 0x1.fffffep127f, -1, 0x1.000002p-63f, 0x1.fffffep-64f, INFINITY, 2.5f, 1e10f};

static void show(const char *what) { printf("%s %x\n", what, fetestexcept(FE_ALL_EXCEPT)); feclearexcept(FE_ALL_EXCEPT); }

#define BOTH(T, x, y) do { volatile T a = x, b = y, r; volatile int c; \
  feclearexcept(FE_ALL_EXCEPT); r = a + b; show("add"); r = a - b; show("sub"); r = a * b; show("mul"); \
  r = a / b; show("div"); c = a < b; show("lt"); c = a == b; show("eq"); } while (0)

int main(void) {
  int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  int n = sizeof d / sizeof *d, m = sizeof s / sizeof *s;
  uint64_t quiet = 0x7ff8000000000001, signalling = 0x7ff0000000000001;
  double q, g;
  memcpy(&q, &quiet, 8);
  memcpy(&g, &signalling, 8);
  for (int k = 0; k < 4; k++) {
    fesetround(modes[k]);
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) BOTH(double, d[i], d[j]);
    for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) BOTH(float, s[i], s[j]);
    for (int i = 0; i < n; i += 3) for (int j = 0; j < n; j += 2) BOTH(long double, (long double)d[i] * 0x1p-15360L, (long double)d[j] * 0x1p15360L);
    for (int i = 0; i < n; i++) {
      volatile double x = d[i];
      volatile float f;
      volatile int w;
      volatile long l;
      volatile long double e;
      feclearexcept(FE_ALL_EXCEPT);
      f = x; show("narrow");
      e = x; show("extend");
      x = e; show("from extended");
      if (fabs(x) < 1e9) { feclearexcept(FE_ALL_EXCEPT); w = x; show("int"); }
      if (fabs(x) < 1e18) { feclearexcept(FE_ALL_EXCEPT); l = x; show("long"); }
      x = sqrt(x); show("sqrt");
      volatile long big = (1L << 53) + i;
      feclearexcept(FE_ALL_EXCEPT);
      x = big; show("from long");
      f = big; show("from long");
      f = (unsigned)i * 0x8421; show("from unsigned");
    }
    BOTH(double, q, 1.0); BOTH(double, 0x1p-1074, q); BOTH(double, g, 1.0); BOTH(double, 0x1p-1074, g);
  }
  fenv_t saved;
  feraiseexcept(FE_OVERFLOW);
  feholdexcept(&saved);
  show("held");
  feraiseexcept(FE_INVALID);
  feupdateenv(&saved);
  fexcept_t some;
  fegetexceptflag(&some, FE_OVERFLOW);
  show("updated");
  fesetexceptflag(&some, FE_OVERFLOW | FE_INEXACT);
  show("set");
  fesetenv(FE_DFL_ENV);
  show("default");
  return 0;
}
