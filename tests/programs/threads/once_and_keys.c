/* expected: exit 3 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int made, destroyed;

static void destroy(void *value) {
  pthread_mutex_lock(&lock);
  destroyed += *(int *)value;
  pthread_mutex_unlock(&lock);
  free(value);
}

static void make(void) {
  made++;
  pthread_key_create(&key, destroy);
}

static void *run(void *number) {
  pthread_once(&once, make);
  assert(made == 1 && !pthread_getspecific(key));
  int *value = malloc(sizeof *value);
  *value = (int)(long)number;
  pthread_setspecific(key, value);
  assert(pthread_getspecific(key) == value);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, (void *)1);
  pthread_create(&b, 0, run, (void *)2);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return destroyed;
}
