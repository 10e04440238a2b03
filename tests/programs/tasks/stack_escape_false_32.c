/* property: valid-memsafety; data model: ILP32; expected: false */
extern int __VERIFIER_nondet_int(void);
static int *leak(int x) {
  static int kept;
  int local = x;
  kept = x;
  int *p = &local;
  return p;
}
int main(void) {
  int *p = leak(__VERIFIER_nondet_int());
  return *p == 3;
}
