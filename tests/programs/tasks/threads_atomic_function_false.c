/* property: unreach-call; data model: LP64; expected: false */
#include <pthread.h>
extern void reach_error(void);

static int turn;

static int __VERIFIER_atomic_take(int from) {
  if (turn != from) return 0;
  turn = from + 1;
  return 1;
}

static void *run(void *unused) {
  if (__VERIFIER_atomic_take(0) && __VERIFIER_atomic_take(2)) reach_error();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  __VERIFIER_atomic_take(1);
  pthread_join(thread, 0);
  return 0;
}
