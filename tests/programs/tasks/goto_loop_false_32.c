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
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int(), steps = 0;
  if (x < 0 || x > 20) return 0;
again:
  if (x == 0) goto done;
  x = x % 2 ? x - 1 : x / 2;
  steps++;
  goto again;
done:
  __VERIFIER_assert(steps < 7);
  return 0;
}
