/* property: unreach-call; data model: LP64; expected: true */
#include <pthread.h>
#include <stdatomic.h>
extern void reach_error(void);

static atomic_int wants[2], turn;
static int inside;

static void enter(int me) {
  wants[me] = 1;
  turn = 1 - me;
  while (wants[1 - me] && turn == 1 - me) {
  }
  inside++;
  if (inside != 1) reach_error();
  inside--;
  wants[me] = 0;
}

static void *other(void *unused) {
  enter(1);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  enter(0);
  pthread_join(thread, 0);
  return 0;
}
