/* property: unreach-call; data model: LP64; expected: false */
#include <pthread.h>
extern void reach_error(void);
extern void __VERIFIER_assume(int);
extern int __VERIFIER_nondet_int(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int limit = 10, found;

static void *run(void *unused) {
  int x = __VERIFIER_nondet_int();
  pthread_mutex_lock(&lock);
  __VERIFIER_assume(x > limit);
  found = x;
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_mutex_lock(&lock);
  limit = 5;
  pthread_mutex_unlock(&lock);
  pthread_join(thread, 0);
  if (found == 7) reach_error();
  return 0;
}
