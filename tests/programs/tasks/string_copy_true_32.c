/* property: valid-memsafety; data model: ILP32; expected: true */
extern char __VERIFIER_nondet_char(void);
extern char *strcpy(char *, const char *);
extern __SIZE_TYPE__ strlen(const char *);
int main(void) {
  char from[8], to[8];
  for (int i = 0; i < 7; i++) from[i] = __VERIFIER_nondet_char();
  from[7] = 0;
  strcpy(to, from);
  return (int)strlen(to) > 7;
}
