/* expected: exit 3 */
#include <pthread.h>
#include <stdlib.h>

static void *end(void *unused) { exit(3); }

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, end, 0);
  pthread_join(thread, 0);
  return 1;
}
