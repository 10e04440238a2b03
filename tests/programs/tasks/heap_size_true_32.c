/* property: valid-memsafety; data model: ILP32; expected: true */
extern __SIZE_TYPE__ __VERIFIER_nondet_size_t(void);
extern void *malloc(__SIZE_TYPE__);
extern void free(void *);
int main(void) {
  __SIZE_TYPE__ n = __VERIFIER_nondet_size_t();
  if (n == 0 || n > 16) return 0;
  int *a = malloc(n * sizeof *a);
  if (!a) return 0;
  for (__SIZE_TYPE__ i = 0; i < n; i++) a[i] = 0;
  free(a);
  return 0;
}
