/* property: unreach-call; data model: LP64; expected: true */
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
extern unsigned char __VERIFIER_nondet_uchar(void);
int main(void) {
  unsigned char x = __VERIFIER_nondet_uchar();
  int slow = 0;
  for (int i = 0; i < 8; i++) slow += x >> i & 1;
  unsigned char v = x;
  int fast = 0;
  while (v) v &= v - 1, fast++;
  __VERIFIER_assert(slow == fast );
  return 0;
}
