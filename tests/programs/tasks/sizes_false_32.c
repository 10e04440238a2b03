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

int main(void) {
  __VERIFIER_assert(sizeof(int) == 4 && sizeof(long long) == 8);
  __VERIFIER_assert(sizeof(long) != sizeof(void *));
  __VERIFIER_assert(sizeof(__SIZE_TYPE__) == sizeof(long));
  return 0;
}
