/* expected: exit 7 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int value;

static void *writer(void *unused) {
  value = 7;
  atomic_store(&ready, 1);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  while (!atomic_load(&ready)) {
  }
  int found = value;
  pthread_join(thread, 0);
  return found;
}
