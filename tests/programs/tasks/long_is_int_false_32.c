/* property: no-overflow; data model: ILP32; expected: false */
extern long __VERIFIER_nondet_long(void);
int main(void) {
  long x = __VERIFIER_nondet_long();
  if (x < 0) return 0;
  long y = x;
  y = y + 1;
  return y == 7;
}
