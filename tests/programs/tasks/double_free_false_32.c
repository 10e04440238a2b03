/* property: valid-memsafety; data model: ILP32; expected: false */
extern _Bool __VERIFIER_nondet_bool(void);
extern void *malloc(__SIZE_TYPE__);
extern void free(void *);
int main(void) {
  char *p = malloc(4);
  _Bool twice = __VERIFIER_nondet_bool();
  free(p);
  if (twice) free(p);
  return 0;
}
