/* property: unreach-call; data model: ILP32; expected: true */
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
extern short __VERIFIER_nondet_short(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
int main(void) {
  short a = __VERIFIER_nondet_short();
  unsigned short b = __VERIFIER_nondet_ushort();
  if (a == -1 && b == 65535) __VERIFIER_assert(a != b);
  return 0;
}
