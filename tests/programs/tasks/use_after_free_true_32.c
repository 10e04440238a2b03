/* property: valid-memsafety; data model: ILP32; expected: true */
extern int __VERIFIER_nondet_int(void);
extern void *malloc(__SIZE_TYPE__);
extern void free(void *);
int main(void) {
  int *p = malloc(sizeof *p);
  if (!p) return 0;
  *p = __VERIFIER_nondet_int();
  int kept = *p;
  free(p);
  return kept == 5 ? kept : 0;
}
