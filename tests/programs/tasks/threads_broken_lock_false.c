/* property: unreach-call; data model: LP64; expected: false */
#include <pthread.h>
#include <stdatomic.h>
extern void reach_error(void);

static atomic_int held, inside;

static void *run(void *unused) {
  while (held) {
  }
  held = 1; /* not in one step with the test */
  inside++;
  if (inside != 1) reach_error();
  inside--;
  held = 0;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  run(0);
  pthread_join(thread, 0);
  return 0;
}
