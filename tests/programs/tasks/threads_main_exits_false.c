/* property: unreach-call; data model: LP64; expected: false */
#include <pthread.h>
#include <stdlib.h>
extern void reach_error(void);

static int written;

static void *run(void *unused) {
  written = 1;
  return unused;
}

static void last(void) {
  if (written) reach_error();
}

int main(void) {
  pthread_t thread;
  atexit(last);
  pthread_create(&thread, 0, run, 0);
  return 0;
}
