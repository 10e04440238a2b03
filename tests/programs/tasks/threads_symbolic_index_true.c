/* property: unreach-call; data model: LP64; expected: true */
#include <pthread.h>
extern void reach_error(void);
extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int table[4];

static void *run(void *unused) {
  unsigned at = __VERIFIER_nondet_uint();
  if (at >= 4) return unused;
  pthread_mutex_lock(&lock);
  table[at]++;
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  if (table[0] + table[1] + table[2] + table[3] > 2) reach_error();
  return 0;
}
