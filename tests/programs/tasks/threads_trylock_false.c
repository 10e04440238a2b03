/* property: unreach-call; data model: LP64; expected: false */
#include <pthread.h>
extern void reach_error(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  if (pthread_mutex_trylock(&lock)) reach_error();
  else pthread_mutex_unlock(&lock);
  pthread_join(thread, 0);
  return 0;
}
