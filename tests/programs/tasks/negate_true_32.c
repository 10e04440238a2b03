/* property: no-overflow; data model: ILP32; expected: true */
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  if (x == -2147483647 - 1) return 0;
  int y = -x;
  return y == 9;
}
