/* expected with --preempt 1: exit; with --preempt 2: assert. The check fails only if the writer is interrupted twice. */
#include <assert.h>
#include <pthread.h>

static int step, seen;

static void *reader(void *unused) {
  if (step == 1) {
    seen = 1;
    if (step == 2) seen = 2;
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, reader, 0);
  step = 1;
  step = 2;
  pthread_join(thread, 0);
  assert(seen != 2);
  return 0;
}
