/* expected: exit 6 */
#include <pthread.h>
#include <semaphore.h>

static sem_t done;
static int value;

static void *run(void *unused) {
  pthread_detach(pthread_self());
  value = 6;
  sem_post(&done);
  return unused;
}

int main(void) {
  pthread_t thread;
  sem_init(&done, 0, 0);
  pthread_create(&thread, 0, run, 0);
  sem_wait(&done);
  return value;
}
