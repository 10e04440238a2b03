/* property: unreach-call; data model: ILP32; expected: false */
#include <pthread.h>
extern void reach_error(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *run(void *unused) {
  pthread_mutex_lock(&lock);
  int old = count;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  count = old + 1;
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  if (count != 2) reach_error();
  return 0;
}
