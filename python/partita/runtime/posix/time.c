/* Clocks. They start at a fixed time and advance by a microsecond at every read. */
#include "kernel.h"
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#define NO_TIMERS "timers never expire (`alarm`, `setitimer`)"

static long long nanoseconds = 1700000000000000000;

static long long advance_clock(void) { return nanoseconds += 1000; }

word __partita_now(void) { return (word)(nanoseconds / 1000000000); }

static struct timespec to_timespec(long long time) { return (struct timespec){time / 1000000000, time % 1000000000}; }

/* Clocks other than the time of day count from the start of the machine, a thousand seconds before the program. */
static struct timespec clock_of(word which) {
  long long now = advance_clock();
  int of_day = which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE || which == CLOCK_TAI;
  return to_timespec(of_day ? now : now - 1699999000000000000);
}

static word sleep_for(const struct timespec *duration) {
  if (duration->tv_nsec < 0 || duration->tv_nsec >= 1000000000 || duration->tv_sec < 0) return -EINVAL;
  if (duration->tv_sec < 1000000000) nanoseconds += duration->tv_sec * 1000000000 + duration->tv_nsec;
  return 0;
}

word __partita_call_time(word number, word a, word b, word c, word d) {
  switch (number) {
  case SYS_clock_gettime:
    if (a < 0 || a > CLOCK_TAI) return -EINVAL;
    *(struct timespec *)b = clock_of(a);
    return 0;
  case SYS_clock_getres: {
    if (a < 0 || a > CLOCK_TAI) return -EINVAL;
    /* As in Linux: some programs measure the clock if the resolution is coarser. */
    int is_coarse = a == CLOCK_REALTIME_COARSE || a == CLOCK_MONOTONIC_COARSE;
    if (b) *(struct timespec *)b = (struct timespec){0, is_coarse ? 4000000 : 1};
    return 0;
  }
  case SYS_clock_settime:
  case SYS_settimeofday: return -EPERM;
  case SYS_gettimeofday: {
    struct timespec now = to_timespec(advance_clock());
    *(struct timeval *)a = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
  }
  case SYS_time: {
    word now = (word)(advance_clock() / 1000000000);
    if (a) *(word *)a = now;
    return now;
  }
  case SYS_times:
    if (a) memset((void *)a, 0, sizeof(struct tms));
    return 100;
  case SYS_nanosleep: return sleep_for((struct timespec *)a);
  case SYS_clock_nanosleep: return b ? 0 : sleep_for((struct timespec *)c);
  case SYS_alarm:
    if (a) __partita_incomplete(NO_TIMERS);
    return 0;
  /* Intervals are four numbers of type `long`, also where `time_t` is wider. */
  case SYS_setitimer: {
    const long *timer = (long *)b;
    if (timer && (timer[2] || timer[3])) __partita_incomplete(NO_TIMERS);
    return 0;
  }
  case SYS_getitimer: memset((void *)b, 0, 4 * sizeof(long)); return 0;
  default: return NOT_HANDLED;
  }
}
