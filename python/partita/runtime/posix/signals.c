/* Signals that the process sends to itself. There are no others. */
#include "kernel.h"
#include <sys/syscall.h>
#include <unistd.h>

/* As musl passes it. */
struct action {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
};

static struct action actions[65];
static uint64_t blocked, pending;

static uint64_t bit(int signal) { return (uint64_t)1 << (signal - 1); }

static void deliver(int signal) {
  void (*handler)(int) = actions[signal].handler;
  if (handler == SIG_IGN) return;
  if (handler == SIG_DFL) {
    if (signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT) return;
    if (signal == SIGABRT) __partita_abort();
    _Exit(128 + signal);
  }
  uint64_t before = blocked;
  if (actions[signal].flags & SA_RESETHAND) actions[signal].handler = SIG_DFL;
  blocked |= actions[signal].mask | (actions[signal].flags & SA_NODEFER ? 0 : bit(signal));
  if (actions[signal].flags & SA_SIGINFO) {
    siginfo_t info = {.si_signo = signal};
    ((void (*)(int, siginfo_t *, void *))handler)(signal, &info, 0);
  } else {
    handler(signal);
  }
  blocked = before;
}

static void deliver_pending(void) {
  for (int signal = 1; signal < 65; signal++)
    if (pending & ~blocked & bit(signal)) {
      pending &= ~bit(signal);
      deliver(signal);
    }
}

/* A handler is called unless the signal is blocked, as in musl, and may jump. If it returns the program ends. */
__attribute__((noreturn)) void abort(void) {
  if (!(blocked & bit(SIGABRT))) deliver(SIGABRT);
  __partita_abort();
}

static word send(word process, int signal) {
  if (signal < 0 || signal > 64) return -EINVAL;
  if (process > 1 && process != getpid()) return -ESRCH;
  if (signal) pending |= bit(signal);
  deliver_pending();
  return 0;
}

static word set_action(int signal, const struct action *new, struct action *old) {
  if (signal < 1 || signal > 64) return -EINVAL;
  if (old) *old = actions[signal];
  if (!new) return 0;
  if (signal == SIGKILL || signal == SIGSTOP) return -EINVAL;
  actions[signal] = *new;
  return 0;
}

static word set_mask(int how, const uint64_t *new, uint64_t *old) {
  if (old) *old = blocked;
  if (!new) return 0;
  uint64_t set = *new;
  if (how == SIG_BLOCK) blocked |= set;
  else if (how == SIG_UNBLOCK) blocked &= ~set;
  else if (how == SIG_SETMASK) blocked = set;
  else return -EINVAL;
  blocked &= ~(bit(SIGKILL) | bit(SIGSTOP));
  deliver_pending();
  return 0;
}

word __partita_call_signals(word number, word a, word b, word c, word d) {
  switch (number) {
  case SYS_rt_sigaction: return set_action((int)a, (struct action *)b, (struct action *)c);
  case SYS_rt_sigprocmask: return set_mask((int)a, (uint64_t *)b, (uint64_t *)c);
  case SYS_rt_sigpending: *(uint64_t *)a = pending; return 0;
  case SYS_kill: return send(a, (int)b);
  case SYS_tkill: return send(a, (int)b);
  case SYS_tgkill: return send(a, (int)c);
  case SYS_sigaltstack: return 0;
  case SYS_rt_sigsuspend:
  case SYS_pause: return -EINTR;
  default: return NOT_HANDLED;
  }
}
