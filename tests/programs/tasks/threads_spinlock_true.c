/* property: unreach-call; data model: LP64; expected: true */
#include <pthread.h>
#include <stdatomic.h>
extern void reach_error(void);

static atomic_flag held = ATOMIC_FLAG_INIT;
static int inside;

static void *run(void *unused) {
  while (atomic_flag_test_and_set(&held)) {
  }
  inside++;
  if (inside != 1) reach_error();
  inside--;
  atomic_flag_clear(&held);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  run(0);
  pthread_join(thread, 0);
  return 0;
}
