/* property: unreach-call; data model: LP64; expected: false */
// No declarations, parameters of an old definition, no types: as gcc accepted it for decades.
sum(a, b) char *b; { return a + *b; }

main() {
  char *text = malloc(2);
  int flag = __VERIFIER_nondet_bool(), letter = __VERIFIER_nondet_char(), port = __VERIFIER_nondet_ushort();
  text[0] = 1;
  if (sum(flag, text) > 1 || flag < 0) reach_error();
  if (letter < -128 || letter > 127 || port < 0 || port > 65535) reach_error();
  free(text);
  return 0;
}
