/* property: valid-memsafety; data model: ILP32; expected: true */
extern void __VERIFIER_nondet_memory(void *, __SIZE_TYPE__);
int main(void) {
  unsigned char block[6];
  __VERIFIER_nondet_memory(block, sizeof block);
  unsigned int index = block[0] & 3;
  return index < 8 && block[index] == 1;
}
