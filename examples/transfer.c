/* Two accounts with a lock each. A transfer locks both, and two transfers in opposite directions can wait for each other. */
#include <assert.h>
#include <pthread.h>

struct account {
  pthread_mutex_t lock;
  int balance;
};

static struct account savings = {PTHREAD_MUTEX_INITIALIZER, 100}, current = {PTHREAD_MUTEX_INITIALIZER, 100};

static void move(struct account *from, struct account *to, int amount) {
  from->balance -= amount;
  to->balance += amount;
}

static void *rent(void *unused) {
  pthread_mutex_lock(&current.lock);
  pthread_mutex_lock(&savings.lock);
  move(&current, &savings, 40);
  pthread_mutex_unlock(&savings.lock);
  pthread_mutex_unlock(&current.lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, rent, 0);
  pthread_mutex_lock(&savings.lock);
  pthread_mutex_lock(&current.lock); /* the other order */
  move(&savings, &current, 10);
  pthread_mutex_unlock(&current.lock);
  pthread_mutex_unlock(&savings.lock);
  pthread_join(thread, 0);
  assert(savings.balance + current.balance == 200);
  return 0;
}
