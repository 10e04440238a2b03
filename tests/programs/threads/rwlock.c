/* expected: exit 5 */
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int low, high;

static void *reader(void *unused) {
  pthread_rwlock_rdlock(&lock);
  assert(low == high);
  pthread_rwlock_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, reader, 0);
  pthread_rwlock_wrlock(&lock);
  low = 5;
  high = 5;
  pthread_rwlock_unlock(&lock);
  pthread_join(thread, 0);
  return high;
}
