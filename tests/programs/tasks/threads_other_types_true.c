/* property: unreach-call; data model: LP64; expected: true */
// Threads that start with functions of other types: without a parameter, without a result, with an `int`.
#include <pthread.h>
extern void reach_error(void);

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(int count) {
  pthread_mutex_lock(&lock);
  total += count;
  pthread_mutex_unlock(&lock);
}

void *without_parameter() { add(1); return 0; }
void without_result(void) { add(2); }
int with_numbers(int count) { add(count); return 7; }

int main(void) {
  pthread_t threads[3];
  void *result;
  pthread_create(&threads[0], 0, without_parameter, 0);
  pthread_create(&threads[1], 0, (void *(*)(void *))without_result, 0);
  pthread_create(&threads[2], 0, (void *(*)(void *))with_numbers, (void *)4);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], &result);
  pthread_join(threads[2], &result);
  if (total != 7 || (int)(long)result != 7) reach_error();
  return 0;
}
