/* expected: assert */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *set(void *unused) {
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, set, NULL);
  pthread_mutex_lock(&mutex);
  if (!ready) { /* not a loop: the wait may end before the signal */
    int error = pthread_cond_wait(&condition, &mutex);
    if (error) return 1;
  }
  assert(ready);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  return 0;
}
