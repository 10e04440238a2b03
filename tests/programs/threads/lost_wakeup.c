/* expected: lost-wakeup */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

static void *waits(void *unused) {
  pthread_mutex_lock(&lock);
  pthread_cond_wait(&ready, &lock); /* does not look whether it is ready already */
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, waits, 0);
  pthread_mutex_lock(&lock);
  pthread_cond_signal(&ready);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, 0);
  return 0;
}
