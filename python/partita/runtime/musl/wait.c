/* Waits for condition variables. The executor ends a wait that no loop repeats as if its time were over (a spurious
   wake-up); the program sees a wait that has ended. */
#include <errno.h>
#include <pthread.h>
#include <threads.h>

int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex) {
  int error = pthread_cond_timedwait(condition, mutex, 0);
  return error == ETIMEDOUT ? 0 : error;
}

int cnd_wait(cnd_t *condition, mtx_t *mutex) {
  int error = cnd_timedwait(condition, mutex, 0);
  return error == thrd_timedout ? thrd_success : error;
}
