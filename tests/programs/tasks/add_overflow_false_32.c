/* property: no-overflow; data model: ILP32; expected: false */
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
  if (x < 0 || x > 1500000000 || y < 0 || y > 1000000000) return 0;
  int sum = x + y;
  return sum == 5;
}
