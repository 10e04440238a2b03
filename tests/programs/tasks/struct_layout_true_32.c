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

struct mixed {
  char c;
  long long wide;
  void *pointer;
  double number;
};
int main(void) {
  __VERIFIER_assert(__builtin_offsetof(struct mixed, wide) == 4);
  __VERIFIER_assert(sizeof(struct mixed) == 24);
  return 0;
}
