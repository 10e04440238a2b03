/* The entry point of the kernel model: musl calls `__partita_syscall` in place of system calls. */
#include "kernel.h"
#include <sys/syscall.h>

static char *decimal(char *end, word number) {
  *--end = 0;
  do *--end = (char)('0' + number % 10);
  while (number /= 10);
  return end;
}

/* Names of system calls that are not modelled, for messages. Calls newer than the headers are named by number. */
#define N(name) {SYS_##name, #name}
static const struct {
  word number;
  const char *name;
} names[] = {
    N(accept), N(accept4), N(acct), N(add_key), N(adjtimex), N(arch_prctl), N(bind), N(bpf), N(cachestat),
    N(capget), N(capset), N(chroot), N(clock_adjtime), N(clone), N(clone3), N(connect), N(delete_module),
    N(epoll_create), N(epoll_create1), N(epoll_ctl), N(epoll_pwait), N(epoll_pwait2), N(epoll_wait), N(eventfd),
    N(eventfd2), N(execve), N(execveat), N(fanotify_init), N(fanotify_mark), N(finit_module), N(fork),
    N(fremovexattr), N(fsconfig), N(fsmount), N(fsopen), N(fspick), N(futex), N(futex_waitv), N(get_mempolicy),
    N(get_robust_list), N(getdents), N(getpeername), N(getsockname), N(getsockopt), N(init_module),
    N(inotify_add_watch), N(inotify_init), N(inotify_init1), N(inotify_rm_watch), N(io_cancel), N(io_destroy),
    N(io_getevents), N(io_pgetevents), N(io_setup), N(io_submit), N(io_uring_enter), N(io_uring_register),
    N(io_uring_setup), N(ioperm), N(iopl), N(ioprio_get), N(ioprio_set), N(kcmp), N(kexec_file_load), N(kexec_load),
    N(keyctl), N(landlock_add_rule), N(landlock_create_ruleset), N(landlock_restrict_self), N(listen),
    N(lremovexattr), N(mbind), N(memfd_create), N(memfd_secret), N(migrate_pages), N(mincore),
    N(mknod), N(mknodat), N(mlock2), N(mlockall), N(modify_ldt), N(mount), N(mount_setattr), N(move_mount),
    N(move_pages), N(mq_getsetattr), N(mq_notify), N(mq_open), N(mq_timedreceive), N(mq_timedsend), N(mq_unlink),
    N(msgctl), N(msgget), N(msgrcv), N(msgsnd), N(msync), N(munlockall), N(name_to_handle_at),
    N(open_by_handle_at), N(open_tree), N(openat2), N(perf_event_open), N(personality), N(pidfd_getfd),
    N(pidfd_open), N(pidfd_send_signal), N(pivot_root), N(pkey_alloc), N(pkey_free), N(pkey_mprotect), N(preadv),
    N(preadv2), N(process_madvise), N(process_mrelease), N(process_vm_readv), N(process_vm_writev), N(ptrace),
    N(pwritev), N(pwritev2), N(quotactl), N(reboot), N(recvfrom), N(recvmmsg), N(recvmsg), N(remap_file_pages),
    N(removexattr), N(request_key), N(restart_syscall), N(rseq), N(rt_sigqueueinfo), N(rt_sigreturn),
    N(rt_sigtimedwait), N(rt_tgsigqueueinfo), N(sched_get_priority_max), N(sched_get_priority_min),
    N(sched_getattr), N(sched_getparam), N(sched_getscheduler), N(sched_rr_get_interval), N(sched_setaffinity),
    N(sched_setattr), N(sched_setparam), N(sched_setscheduler), N(seccomp), N(semctl), N(semget), N(semop),
    N(semtimedop), N(sendmmsg), N(sendmsg), N(sendto), N(set_mempolicy), N(set_mempolicy_home_node),
    N(set_robust_list), N(setfsgid), N(setfsuid), N(setns), N(setsockopt), N(shmat), N(shmctl), N(shmdt), N(shmget),
    N(shutdown), N(signalfd), N(signalfd4), N(socket), N(socketpair), N(swapoff), N(swapon), N(sync_file_range),
    N(syslog), N(tee), N(timer_create), N(timer_delete), N(timer_getoverrun), N(timer_gettime), N(timer_settime),
    N(timerfd_create), N(timerfd_gettime), N(timerfd_settime), N(umount2), N(unshare), N(userfaultfd), N(utime),
    N(vfork), N(vhangup), N(vmsplice),
};

static word not_modelled(word number) {
  char text[48], digits[24];
  strcpy(text, "system call ");
  char *name = text + strlen(text);
  strcpy(name, decimal(digits + sizeof digits, number));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].number == number) strcpy(name, names[i].name);
  __partita_not_modelled(text);
  return -ENOSYS;
}

/* Does the call depend on nothing that other threads change, or only on memory? The order of output is not explored. */
static int is_threads_own(word number) {
  switch (number) {
  case SYS_write:
  case SYS_writev:
  case SYS_ioctl:
  case SYS_futex:
  case SYS_membarrier:
  case SYS_exit:
  case SYS_exit_group:
  case SYS_gettid:
  case SYS_getpid:
  case SYS_mmap:
  case SYS_munmap:
  case SYS_mprotect:
  case SYS_madvise:
  case SYS_rt_sigprocmask:
  case SYS_sched_yield:
  case SYS_nanosleep:
  case SYS_clock_nanosleep:
  case SYS_clock_gettime:
  case SYS_gettimeofday: return 1;
  default: return 0;
  }
}

word __partita_syscall(word number, word a, word b, word c, word d, word e, word f) {
  word fault = __partita_vary_call(number, a);
  if (__partita_has_threads() && !is_threads_own(number))
    __partita_incomplete("a system call of one of several threads: its other orders are not explored");
  word result = __partita_failure(number);
  if (!result) result = fault;
  if (result) return result;
  result = __partita_call_files(number, a, b, c, d, e);
  if (result == NOT_HANDLED) result = __partita_call_status(number, a, b, c, d, e);
  if (result == NOT_HANDLED) result = __partita_call_names(number, a, b, c, d, e);
  if (result == NOT_HANDLED) result = __partita_call_process(number, a, b, c, d, e, f);
  if (result == NOT_HANDLED) result = __partita_call_time(number, a, b, c, d);
  if (result == NOT_HANDLED) result = __partita_call_signals(number, a, b, c, d);
  return result == NOT_HANDLED ? not_modelled(number) : result;
}
