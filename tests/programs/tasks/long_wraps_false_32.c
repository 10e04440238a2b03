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
extern unsigned long __VERIFIER_nondet_ulong(void);
int main(void) {
  unsigned long x = __VERIFIER_nondet_ulong();
  unsigned long long y = x;
  __VERIFIER_assert(y + 1 < 0x100000000ULL);
  return 0;
}
