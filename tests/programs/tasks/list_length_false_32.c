/* property: unreach-call; data model: ILP32; expected: false */
extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned int, const char *) __attribute__((__nothrow__, __noreturn__));
void reach_error(void) { __assert_fail("0", "task.c", 3, "reach_error"); }
void __VERIFIER_assert(int cond) {
  if (!cond) {
  ERROR: {
    reach_error();
    abort();
  }
  }
}
void assume_abort_if_not(int cond) {
  if (!cond) abort();
}
extern int __VERIFIER_nondet_int(void);
typedef unsigned int size_t;
extern void *malloc(size_t);
extern void free(void *);
struct node {
  int value;
  struct node *next;
};
int main(void) {
  struct node *head = 0;
  int count = 0;
  while (count < 5 && __VERIFIER_nondet_int()) {
    struct node *fresh = malloc(sizeof *fresh);
    if (!fresh) abort();
    fresh->value = count;
    fresh->next = head;
    head = fresh;
    count++;
  }
  int found = 0;
  while (head) {
    struct node *next = head->next;
    __VERIFIER_assert(head->value + 1 < count);
    free(head);
    head = next;
    found++;
  }
  __VERIFIER_assert(found == count);
  return 0;
}
