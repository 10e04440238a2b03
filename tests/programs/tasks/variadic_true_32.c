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
extern int __VERIFIER_nondet_int(void);
static long long total(int count, ...) {
  __builtin_va_list list;
  __builtin_va_start(list, count);
  long long sum = 0;
  for (int i = 0; i < count; i++) sum += i % 2 ? __builtin_va_arg(list, long long) : __builtin_va_arg(list, int);
  sum += *__builtin_va_arg(list, char *);
  __builtin_va_end(list);
  return sum;
}
int main(void) {
  int x = __VERIFIER_nondet_int();
  long long wide = 1LL << 40;
  __VERIFIER_assert(total(3, x, wide, 5, "A") == x + wide + 5 + 'A');
  return 0;
}
