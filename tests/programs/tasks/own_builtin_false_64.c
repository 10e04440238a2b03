/* property: unreach-call; data model: LP64; expected: false */
// Tasks made of the kernel define functions that the compiler has too.
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

long __builtin_expect(long value, long expected) { return value + 0 * expected; }

int main(void) {
  int value = __VERIFIER_nondet_int();
  if (__builtin_expect(value < 0, 0) && value < -9) reach_error();
  return 0;
}
