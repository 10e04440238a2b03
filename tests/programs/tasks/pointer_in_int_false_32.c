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
extern unsigned int __VERIFIER_nondet_uint(void);
int cells[4];
int main(void) {
  unsigned int i = __VERIFIER_nondet_uint();
  if (i > 3) return 0;
  unsigned long address = (unsigned long)&cells[i];
  int *again = (int *)address;
  *again = 7;
  __VERIFIER_assert(cells[i] == 7 && again - cells != i);
  return 0;
}
