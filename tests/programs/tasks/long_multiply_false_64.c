/* property: no-overflow; data model: LP64; expected: false */
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  int product = (int)x * 16;
  return product == 32;
}
