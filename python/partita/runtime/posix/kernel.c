/* The one entry: musl's code calls this where it would execute a system call. */
#include "kernel.h"
#include <sys/syscall.h>

static char *decimal(char *end, long number) {
  *--end = 0;
  do *--end = (char)('0' + number % 10);
  while (number /= 10);
  return end;
}

/* Names of what programs may try and the model does not have; others are told by number. */
static const struct {
  long number;
  const char *name;
} names[] = {
    {SYS_clone, "clone"},         {SYS_fork, "fork"},           {SYS_vfork, "vfork"},
    {SYS_execve, "execve"},       {SYS_socket, "socket"},       {SYS_connect, "connect"},
    {SYS_mount, "mount"},         {SYS_ptrace, "ptrace"},       {SYS_mknod, "mknod"},
    {SYS_mknodat, "mknodat"},     {SYS_chroot, "chroot"},       {SYS_reboot, "reboot"},
    {SYS_shmget, "shmget"},       {SYS_msgget, "msgget"},       {SYS_semget, "semget"},
    {SYS_timer_create, "timer_create"}, {SYS_epoll_create1, "epoll_create1"}, {SYS_futex, "futex"},
    {SYS_inotify_init1, "inotify_init1"}, {SYS_eventfd2, "eventfd2"}, {SYS_memfd_create, "memfd_create"},
};

static long missing(long number) {
  char text[48], digits[24];
  strcpy(text, "system call ");
  char *name = text + strlen(text);
  strcpy(name, decimal(digits + sizeof digits, number));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].number == number) strcpy(name, names[i].name);
  __partita_not_modelled(text);
  return -ENOSYS;
}

long __partita_syscall(long number, long a, long b, long c, long d, long e, long f) {
  long result = __partita_call_files(number, a, b, c, d);
  if (result == NOT_MINE) result = __partita_call_status(number, a, b, c, d, e);
  if (result == NOT_MINE) result = __partita_call_names(number, a, b, c, d, e);
  if (result == NOT_MINE) result = __partita_call_process(number, a, b, c, d, e, f);
  if (result == NOT_MINE) result = __partita_call_time(number, a, b, c, d);
  if (result == NOT_MINE) result = __partita_call_signals(number, a, b, c, d);
  return result == NOT_MINE ? missing(number) : result;
}
