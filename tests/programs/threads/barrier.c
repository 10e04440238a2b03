/* expected: exit 3 */
#include <assert.h>
#include <pthread.h>

static pthread_barrier_t both;
static int left, right;

static void *other(void *unused) {
  right = 1;
  pthread_barrier_wait(&both);
  assert(left == 2);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_barrier_init(&both, 0, 2);
  pthread_create(&thread, 0, other, 0);
  left = 2;
  pthread_barrier_wait(&both);
  int sum = left + right;
  pthread_join(thread, 0);
  pthread_barrier_destroy(&both);
  return sum;
}
