/* property: no-overflow; data model: ILP32; expected: true */
extern unsigned char __VERIFIER_nondet_uchar(void);
int main(void) {
  unsigned int i = 2147483640;
  unsigned char extra = __VERIFIER_nondet_uchar();
  if (extra > 10) return 0;
  for (int n = 0; n < extra; n++) i++;
  return i == 1;
}
