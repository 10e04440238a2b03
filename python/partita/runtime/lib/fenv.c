/* fenv.h. The executor keeps the rounding mode and the exception flags of the path. It records flags only for programs that
   contain a function of this file that reads them. */
#include <fenv.h>

/* Modes in the order of x86's control word: nearest, down, up, towards zero. Returns -1 for any other number. */
int __partita_set_rounding(int mode);
int __partita_get_rounding(void);
/* Flags have the bits of FE_ALL_EXCEPT. */
int __partita_get_exceptions(void);
void __partita_set_exceptions(int flags);

#define MODE_SHIFT 10 /* of FE_DOWNWARD and so on, and of the control word */
#define MXCSR_SHIFT 13

int fegetround(void) { return __partita_get_rounding() << MODE_SHIFT; }

/* FLT_ROUNDS: towards zero 0, nearest 1, up 2, down 3. Two bits for each mode, so that a symbolic one does not fork. */
int __flt_rounds(void) { return 0x2d >> 2 * __partita_get_rounding() & 3; }

int fesetround(int mode) {
  return mode & ~FE_TOWARDZERO ? -1 : __partita_set_rounding(mode >> MODE_SHIFT);
}

int fetestexcept(int flags) { return __partita_get_exceptions() & flags & FE_ALL_EXCEPT; }

int feclearexcept(int flags) {
  __partita_set_exceptions(__partita_get_exceptions() & ~flags);
  return 0;
}

int feraiseexcept(int flags) {
  __partita_set_exceptions(__partita_get_exceptions() | (flags & FE_ALL_EXCEPT));
  return 0;
}

int fegetexceptflag(fexcept_t *to, int flags) {
  *to = fetestexcept(flags);
  return 0;
}

int fesetexceptflag(const fexcept_t *from, int flags) {
  int others = __partita_get_exceptions() & ~flags;
  __partita_set_exceptions(others | (*from & flags & FE_ALL_EXCEPT));
  return 0;
}

int fegetenv(fenv_t *environment) {
  int mode = __partita_get_rounding();
  int flags = __partita_get_exceptions();
#ifdef __x86_64__
  *environment =
      (fenv_t){.__control_word = 0x37f | mode << MODE_SHIFT, .__mxcsr = 0x1f80 | mode << MXCSR_SHIFT | flags};
#else
  *environment = (fenv_t){.__control_word = 0x37f | mode << MODE_SHIFT, .__status_word = flags};
#endif
  return 0;
}

int fesetenv(const fenv_t *environment) {
  if (environment == FE_DFL_ENV) {
    __partita_set_exceptions(0);
    return __partita_set_rounding(0);
  }
#ifdef __x86_64__
  __partita_set_exceptions(environment->__mxcsr & FE_ALL_EXCEPT);
  return __partita_set_rounding(environment->__mxcsr >> MXCSR_SHIFT & 3);
#else
  __partita_set_exceptions(environment->__status_word & FE_ALL_EXCEPT);
  return __partita_set_rounding(environment->__control_word >> MODE_SHIFT & 3);
#endif
}

int feholdexcept(fenv_t *environment) {
  fegetenv(environment);
  __partita_set_exceptions(0);
  return 0;
}

int feupdateenv(const fenv_t *environment) {
  int raised = __partita_get_exceptions();
  fesetenv(environment);
  return feraiseexcept(raised);
}
