/* property: unreach-call; data model: ILP32; expected: false */
extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned int, const char *) __attribute__((__nothrow__, __noreturn__));
void reach_error(void) { __assert_fail("0", "task.c", 3, "reach_error"); }
void __VERIFIER_assert(int cond) {
  if (!cond) {
  ERROR: {
    reach_error();
    abort();
  }
  }
}
void assume_abort_if_not(int cond) {
  if (!cond) abort();
}
extern _Bool __VERIFIER_nondet_bool(void);
int main(void) {
  int state = 0, locked = 0;
  for (int step = 0; step < 6; step++) {
    _Bool event = __VERIFIER_nondet_bool();
    switch (state) {
    case 0:
      if (event) locked++, state = 1;
      break;
    case 1:
      if (!event) locked--, state = 2;
      break;
    default:
      state = event ? 1 : 0;
      break;
    }
  }
  __VERIFIER_assert(locked == 0 || locked == 1);
  return 0;
}
