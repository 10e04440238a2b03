/* property: valid-memsafety; data model: ILP32; expected: false */
extern unsigned int __VERIFIER_nondet_uint(void);
int main(void) {
  int a[10];
  unsigned int i = __VERIFIER_nondet_uint();
  if (i <= 10) a[i] = 1;
  return 0;
}
