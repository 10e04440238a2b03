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
extern unsigned int __VERIFIER_nondet_u32(void);
union word {
  unsigned int whole;
  unsigned char bytes[4];
};
int main(void) {
  union word w;
  w.whole = __VERIFIER_nondet_u32();
  unsigned int again = w.bytes[0] | w.bytes[1] << 8 | w.bytes[2] << 16 | (unsigned int)w.bytes[3] << 23;
  __VERIFIER_assert(again == w.whole);
  return 0;
}
