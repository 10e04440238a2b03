/* expected: exit 9 */
#include <pthread.h>
#include <semaphore.h>

static sem_t full, empty;
static int slot;

static void *producer(void *unused) {
  for (int i = 4; i <= 5; i++) {
    sem_wait(&empty);
    slot = i;
    sem_post(&full);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  int sum = 0;
  sem_init(&full, 0, 0);
  sem_init(&empty, 0, 1);
  pthread_create(&thread, 0, producer, 0);
  for (int i = 0; i < 2; i++) {
    sem_wait(&full);
    sum += slot;
    sem_post(&empty);
  }
  pthread_join(thread, 0);
  return sum;
}
