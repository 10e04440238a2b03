/* property: no-overflow; data model: LP64; expected: true */
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  long long product = (long long)x * 16;
  return product == 32;
}
