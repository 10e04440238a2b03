/* expected: exit 6 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int slot, sum;

static void *consumer(void *unused) {
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&lock);
    while (!slot) pthread_cond_wait(&changed, &lock);
    sum += slot;
    slot = 0;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, consumer, 0);
  for (int i = 1; i <= 3; i++) {
    pthread_mutex_lock(&lock);
    while (slot) pthread_cond_wait(&changed, &lock);
    slot = i;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  pthread_join(thread, 0);
  return sum;
}
