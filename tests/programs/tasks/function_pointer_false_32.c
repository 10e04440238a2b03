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
extern unsigned int __VERIFIER_nondet_uint(void);
static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
static int (*const table[2])(int) = {twice, square};
int main(void) {
  unsigned int which = __VERIFIER_nondet_uint();
  int x = __VERIFIER_nondet_int();
  if (which > 1 || x < 0 || x > 10) return 0;
  int y = table[which](x);
  __VERIFIER_assert(y == 2 * x || x > 3);
  return 0;
}
