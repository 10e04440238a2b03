/* property: unreach-call; data model: LP64; expected: true */
#include <pthread.h>
extern void reach_error(void);
extern void __VERIFIER_assume(int);

static int held, inside;

static void __VERIFIER_atomic_acquire(void) {
  __VERIFIER_assume(held == 0);
  held = 1;
}

static void __VERIFIER_atomic_release(void) { held = 0; }

static void *run(void *unused) {
  __VERIFIER_atomic_acquire();
  inside++;
  if (inside != 1) reach_error();
  inside--;
  __VERIFIER_atomic_release();
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
