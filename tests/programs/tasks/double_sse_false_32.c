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

/* With the registers of the x87 unit the sum would keep more digits. */
int main(void) {
  double one = 1.0, small = 1.0 / 9007199254740992.0;
  volatile double sum = one + small;
  int same = one + small == sum;
  __VERIFIER_assert(same && sum > 1.0);
  return 0;
}
