/* fenv.h. The rounding mode of the path is kept by the executor. Exception flags are not tracked: functions that return
   them say so and return none. */
#include <fenv.h>

/* Modes in the order of x86's control word: nearest, down, up, towards zero. Returns -1 for any other number. */
int __partita_set_rounding(int mode);
int __partita_get_rounding(void);
void __partita_read_exceptions(void);

#define MODE_SHIFT 10 /* of FE_DOWNWARD and so on, and of the control word */
#define MXCSR_SHIFT 13

int fegetround(void) { return __partita_get_rounding() << MODE_SHIFT; }

int fesetround(int mode) {
  return mode & ~FE_TOWARDZERO ? -1 : __partita_set_rounding(mode >> MODE_SHIFT);
}

int fegetenv(fenv_t *environment) {
  int mode = __partita_get_rounding();
  *environment = (fenv_t){.__control_word = 0x37f | mode << MODE_SHIFT, .__mxcsr = 0x1f80 | mode << MXCSR_SHIFT};
  return 0;
}

int fesetenv(const fenv_t *environment) {
  int mode = environment == FE_DFL_ENV ? 0 : environment->__mxcsr >> MXCSR_SHIFT & 3;
  return __partita_set_rounding(mode);
}

int feholdexcept(fenv_t *environment) { return fegetenv(environment); }
int feupdateenv(const fenv_t *environment) { return fesetenv(environment); }

/* Flags matter only to the functions below. */
int feclearexcept(int flags) { return 0; }
int feraiseexcept(int flags) { return 0; }
int fesetexceptflag(const fexcept_t *from, int flags) { return 0; }

int fetestexcept(int flags) {
  if (flags & FE_ALL_EXCEPT) __partita_read_exceptions();
  return 0;
}

int fegetexceptflag(fexcept_t *to, int flags) {
  *to = fetestexcept(flags);
  return 0;
}
