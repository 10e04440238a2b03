/* property: unreach-call; data model: LP64; expected: true */
#include <pthread.h>
extern void reach_error(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void *run(void *unused) {
  pthread_mutex_lock(&lock);
  first++;
  second++;
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_mutex_lock(&lock);
  if (first != second) reach_error();
  pthread_mutex_unlock(&lock);
  pthread_join(a, 0);
  pthread_join(b, 0);
  if (first != 2) reach_error();
  return 0;
}
