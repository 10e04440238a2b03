/* property: valid-memsafety; data model: ILP32; expected: true */
extern _Bool __VERIFIER_nondet_bool(void);
extern void *malloc(__SIZE_TYPE__);
extern void free(void *);
struct node {
  struct node *next;
};
int main(void) {
  struct node *list = 0;
  for (int i = 0; i < 3; i++)
    if (__VERIFIER_nondet_bool()) {
      struct node *fresh = malloc(sizeof *fresh);
      if (!fresh) return 0;
      fresh->next = list;
      list = fresh;
    }
  if (list) list = list->next;
  return 0;
}
