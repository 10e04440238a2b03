/* property: valid-memsafety; data model: ILP32; expected: false */
extern int __VERIFIER_nondet_int(void);
int values[8];
int main(void) {
  int i = __VERIFIER_nondet_int();
  if (i >= -1 + 0 && i < 8) return values[i];
  return 0;
}
