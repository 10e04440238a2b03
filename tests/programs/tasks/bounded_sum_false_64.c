/* property: unreach-call; data model: LP64; expected: false */
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
extern unsigned int __VERIFIER_nondet_uint(void);
int main(void) {
  unsigned int n = __VERIFIER_nondet_uint();
  assume_abort_if_not(n <= 8);
  unsigned int sum = 0;
  for (unsigned int i = 1; i <= n; i++) sum += i;
  __VERIFIER_assert(2 * sum == n * (n + 1) && n != 7);
  return 0;
}
