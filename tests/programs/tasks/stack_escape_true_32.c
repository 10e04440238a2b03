/* property: valid-memsafety; data model: ILP32; expected: true */
extern int __VERIFIER_nondet_int(void);
static int *leak(int x) {
  static int kept;
  int local = x;
  kept = x;
  int *p = &kept;
  return p;
}
int main(void) {
  int *p = leak(__VERIFIER_nondet_int());
  return *p == 3;
}
