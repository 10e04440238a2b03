/* expected: exit 2 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *add(void *by) {
  pthread_mutex_lock(&lock);
  count += *(int *)by;
  pthread_mutex_unlock(&lock);
  return by;
}

int main(void) {
  int one = 1;
  pthread_t a, b;
  void *result;
  if (pthread_create(&a, 0, add, &one) || pthread_create(&b, 0, add, &one)) return 100;
  pthread_join(a, &result);
  assert(result == &one);
  pthread_join(b, 0);
  assert(count == 2);
  return count;
}
