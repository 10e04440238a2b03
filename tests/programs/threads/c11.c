/* expected: exit 8 */
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static int done;
static thread_local int own = 3;

static int run(void *unused) {
  own++;
  mtx_lock(&lock);
  done = 1;
  cnd_signal(&changed);
  mtx_unlock(&lock);
  return own;
}

int main(void) {
  thrd_t thread;
  int result;
  mtx_init(&lock, mtx_plain);
  cnd_init(&changed);
  own = 4;
  if (thrd_create(&thread, run, 0) != thrd_success) return 100;
  mtx_lock(&lock);
  while (!done) cnd_wait(&changed, &lock);
  mtx_unlock(&lock);
  thrd_join(thread, &result);
  return own + result;
}
