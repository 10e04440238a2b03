/* expected: exit 4 */
#include <pthread.h>
#include <semaphore.h>

static sem_t never;

static void *waits(void *unused) {
  sem_wait(&never);
  return unused;
}

int main(void) {
  pthread_t thread;
  sem_init(&never, 0, 0);
  pthread_create(&thread, 0, waits, 0);
  pthread_detach(thread);
  return 4;
}
