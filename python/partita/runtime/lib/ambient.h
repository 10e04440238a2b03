/* Time and random numbers: the same in every run, or symbolic inputs with `--ambient symbolic`. Included by the library
   of analysed programs and by the replay runtime, which have different `partita_ambient_value`. The sequences of random
   numbers are those of musl, with which programs are replayed. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

/* Returns `fixed`, or an input with this name. */
static long partita_ambient_value(const char *name, long fixed);

#define NOW 1000000000
#define STEP 6364136223846793005ULL

static uint64_t rand_state;

AMBIENT void srand(unsigned seed) { rand_state = seed - 1; }

AMBIENT int rand(void) {
  rand_state = rand_state * STEP + 1;
  return (int)(partita_ambient_value("rand", (long)(rand_state >> 33)) & 0x7fffffff);
}

/* The sum of the numbers 31 and 28 steps earlier. */
static uint32_t random_state[31];
static int random_next = -1;

AMBIENT void srandom(unsigned seed) {
  uint64_t x = seed;
  for (int i = 0; i < 31; i++) {
    x = x * STEP + 1;
    random_state[i] = (uint32_t)(x >> 32);
  }
  random_state[0] |= 1;
  random_next = 3;
}

AMBIENT long random(void) {
  if (random_next < 0) srandom(1);
  uint32_t sum = random_state[random_next] += random_state[(random_next + 28) % 31];
  random_next = (random_next + 1) % 31;
  return partita_ambient_value("random", sum >> 1) & 0x7fffffff;
}

AMBIENT time_t time(time_t *to) {
  time_t now = partita_ambient_value("time", NOW) & 0xffffffffff;
  if (to) *to = now;
  return now;
}

AMBIENT clock_t clock(void) { return partita_ambient_value("clock", 0) & 0xffffffffff; }

AMBIENT int gettimeofday(struct timeval *restrict to, void *restrict zone) {
  (void)zone;
  if (to) *to = (struct timeval){.tv_sec = time(NULL)};
  return 0;
}

AMBIENT int clock_gettime(clockid_t which, struct timespec *to) {
  (void)which;
  *to = (struct timespec){.tv_sec = time(NULL)};
  return 0;
}
