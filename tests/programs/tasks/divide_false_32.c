/* property: no-overflow; data model: ILP32; expected: false */
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
  if (y == 0 || (x == -1)) return 0;
  return x / y == 3;
}
