/* property: unreach-call; data model: ILP32; expected: true */
// The call is the error, whatever the function does.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
void reach_error() {}

int main(void) {
  int value = __VERIFIER_nondet_int();
  if (value * 2 == 21) goto ERROR;
  return 0;
ERROR:
  reach_error();
  return 0;
}
