/* Identity, limits, memory and end of the process. */
#include "kernel.h"
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { PROCESS = 4242, PARENT = 4241 };
enum { FUTEX_WAIT = 0, FUTEX_WAKE = 1, FUTEX_REQUEUE = 3, FUTEX_PRIVATE = 128 };

word __partita_uid, __partita_gid;

static word set_id(word wanted, word have) { return wanted == -1 || wanted == have || __partita_uid == 0 ? 0 : -EPERM; }

/* Limits that the program sets are kept, and have no effect. */
static word limit(word resource, const struct rlimit *new, struct rlimit *old) {
  static struct rlimit limits[RLIM_NLIMITS];
  static char is_set[RLIM_NLIMITS];
  if (resource < 0 || resource >= RLIM_NLIMITS) return -EINVAL;
  struct rlimit *now = &limits[resource];
  if (!is_set[resource]) {
    is_set[resource] = 1;
    now->rlim_cur = now->rlim_max = RLIM_INFINITY;
    if (resource == RLIMIT_NOFILE) now->rlim_cur = now->rlim_max = DESCRIPTORS;
    if (resource == RLIMIT_STACK) now->rlim_cur = 8 << 20;
  }
  if (new && new->rlim_cur > new->rlim_max) return -EINVAL;
  if (new && new->rlim_max > now->rlim_max && __partita_uid) return -EPERM;
  struct rlimit wanted = new ? *new : *now;
  if (old) *old = *now;
  *now = wanted;
  return 0;
}

static word usage(int who, void *to) {
  if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD) return -EINVAL;
  memset(to, 0, 18 * sizeof(long)); /* times of type `long`, also where `time_t` is wider */
  return 0;
}

static word set_group(int process, int group) {
  if (process < 0 || group < 0) return -EINVAL;
  return process && process != PROCESS ? -ESRCH : 0;
}

static word process_option(int option, word argument) {
  static char name[16] = "program";
  switch (option) {
  case PR_SET_NAME: strncpy(name, (char *)argument, sizeof name - 1); return 0;
  case PR_GET_NAME: strcpy((char *)argument, name); return 0;
  case PR_GET_DUMPABLE: return 1;
  default: return NOT_HANDLED;
  }
}

static word system_name(struct utsname *to) {
  memset(to, 0, sizeof *to);
  strcpy(to->sysname, "Linux");
  strcpy(to->nodename, "localhost");
  strcpy(to->release, "6.1.0");
  strcpy(to->version, "#1 SMP");
  strcpy(to->machine, "x86_64");
  strcpy(to->domainname, "(none)");
  return 0;
}

static word map(size_t size, int protection, int flags, int fd, off_t offset) {
  if (!size) return -EINVAL;
  size = (size + 4095) & ~(size_t)4095;
  char *memory = calloc(1, size);
  if (!memory) return -ENOMEM;
  if (!(flags & MAP_ANONYMOUS)) {
    struct handle *handle = __partita_handle(fd);
    if (!handle) return -EBADF;
    if (!S_ISREG(handle->inode->status->st_mode)) return -ENODEV;
    word error = __partita_load(handle->inode);
    if (error) return error;
    if ((flags & MAP_SHARED) && (protection & PROT_WRITE))
      __partita_incomplete("what is written to a shared mapping does not reach the file");
    off_t left = handle->inode->status->st_size - offset;
    if (left > 0) memcpy(memory, handle->inode->data + offset, (size_t)left < size ? (size_t)left : size);
  }
  return (word)memory;
}

/* Fails as the kernel does if the file cannot be executed; otherwise the call is not modelled. */
static word execute(int from, const char *path, int flags) {
  struct lookup lookup;
  word error = __partita_walk(from, path, !(flags & AT_SYMLINK_NOFOLLOW), &lookup);
  if (error) return error;
  struct inode *inode = lookup.inode;
  if (!S_ISREG(inode->status->st_mode) || !__partita_may_access(inode, 1)) return -EACCES;
  for (word fd = 0; fd < DESCRIPTORS; fd++) {
    struct handle *handle = __partita_handle(fd);
    if (handle && handle->inode == inode && (handle->flags & ACCESS_MASK) != O_RDONLY) return -ETXTBSY;
  }
  error = __partita_load(inode);
  if (error) return error;
  const unsigned char *data = inode->data;
  off_t size = inode->status->st_size;
  int is_script = size > 1 && data[0] == '#' && data[1] == '!';
  int is_binary = size > 3 && data[0] == 0x7f && data[1] == 'E' && data[2] == 'L' && data[3] == 'F';
  return is_script || is_binary ? NOT_HANDLED : -ENOEXEC;
}

static word unmap(char *memory, size_t size) {
  /* Unmapping a part of a mapping has no effect; it only leaks memory. */
  if ((size_t)__partita_room(memory) == ((size + 4095) & ~(size_t)4095)) free(memory);
  return 0;
}

/* Mappings are objects of their own: one that grows moves. */
static word remap(char *memory, size_t size, size_t wanted, int flags) {
  if (!wanted) return -EINVAL;
  size = (size + 4095) & ~(size_t)4095;
  wanted = (wanted + 4095) & ~(size_t)4095;
  word room = __partita_room(memory);
  if (room < 0 || (size_t)room != size) return -EFAULT;
  if (wanted == size) return (word)memory;
  if (flags & ~MREMAP_MAYMOVE) return NOT_HANDLED;
  if (!(flags & MREMAP_MAYMOVE)) return wanted < size ? (word)memory : -ENOMEM;
  char *moved = calloc(1, wanted);
  if (!moved) return -ENOMEM;
  memcpy(moved, memory, size < wanted ? size : wanted);
  free(memory);
  return (word)moved;
}

static word futex(int *at, int operation, int value, word timeout) {
  switch (operation & ~FUTEX_PRIVATE) {
  case FUTEX_WAIT: return __partita_futex_wait(at, value, timeout != 0);
  case FUTEX_WAKE: return __partita_futex_wake(at, value);
  /* A waiter that is woken instead of moved tries again, and waits at the other place by itself. */
  case FUTEX_REQUEUE: return __partita_futex_wake(at, (int)timeout);
  default: return NOT_HANDLED;
  }
}

/* Threads take turns and see memory as it is, so barriers have no effect. Commands as in <linux/membarrier.h>. */
static word barrier(int command, unsigned flags) {
  enum { QUERY, GLOBAL, GLOBAL_EXPEDITED, PRIVATE = 8, SYNC_CORE = 32, RSEQ = 128, ALL = 511 };
  static int registered;
  if (command == QUERY) return flags ? -EINVAL : ALL;
  if (command < 0 || command > ALL || command & (command - 1)) return -EINVAL;
  if (flags && (command != RSEQ || flags != 1)) return -EINVAL;
  switch (command) {
  case PRIVATE:
  case SYNC_CORE:
  case RSEQ: return registered & command << 1 ? 0 : -EPERM;
  case GLOBAL:
  case GLOBAL_EXPEDITED: return 0;
  default: registered |= command; return 0;
  }
}

word __partita_call_process(word number, word a, word b, word c, word d, word e, word f) {
  switch (number) {
  case SYS_exit: __partita_exit_thread(); /* returns in the last thread */
  case SYS_exit_group: _Exit((int)a);
  case SYS_gettid: return __partita_thread_number();
  case SYS_futex: return futex((int *)a, (int)b, (int)c, d);
  case SYS_getpid:
  case SYS_set_tid_address:
  case SYS_getpgrp:
  case SYS_getpgid:
  case SYS_getsid:
  case SYS_setsid: return PROCESS;
  case SYS_getppid: return PARENT;
  case SYS_setpgid: return set_group((int)a, (int)b);
  case SYS_getuid:
  case SYS_geteuid: return __partita_uid;
  case SYS_getgid:
  case SYS_getegid: return __partita_gid;
  case SYS_getresuid: *(uid_t *)a = *(uid_t *)b = *(uid_t *)c = (uid_t)__partita_uid; return 0;
  case SYS_getresgid: *(gid_t *)a = *(gid_t *)b = *(gid_t *)c = (gid_t)__partita_gid; return 0;
  case SYS_setuid:
  case SYS_setreuid:
  case SYS_setresuid: return set_id((int)a, __partita_uid);
  case SYS_setgid:
  case SYS_setregid:
  case SYS_setresgid: return set_id((int)a, __partita_gid);
  case SYS_getgroups:
    if (a) *(gid_t *)b = (gid_t)__partita_gid;
    return 1;
  case SYS_setgroups: return __partita_uid ? -EPERM : 0;
  case SYS_getrlimit: return limit(a, 0, (struct rlimit *)b);
  case SYS_prlimit64: return limit(b, (struct rlimit *)c, (struct rlimit *)d);
  case SYS_setrlimit: return limit(a, (struct rlimit *)b, 0);
  case SYS_getrusage: return usage((int)a, (void *)b);
  case SYS_getpriority: return 20;
  case SYS_setpriority: return 0;
  case SYS_uname: return system_name((struct utsname *)a);
  case SYS_sethostname:
  case SYS_setdomainname: return -EPERM;
  case SYS_sysinfo:
    memset((void *)a, 0, sizeof(struct sysinfo));
    ((struct sysinfo *)a)->mem_unit = sizeof(long) == 8 ? 1 : 4096;
    ((struct sysinfo *)a)->totalram = ((uint64_t)1 << 32) / ((struct sysinfo *)a)->mem_unit;
    ((struct sysinfo *)a)->freeram = ((uint64_t)1 << 31) / ((struct sysinfo *)a)->mem_unit;
    return 0;
  case SYS_sched_yield: return 0;
  case SYS_sched_getaffinity:
    memset((void *)c, 0, (size_t)b);
    *(char *)c = 1; /* one processor */
    return 8;
  case SYS_getcpu: return 0;
  case SYS_membarrier: return barrier((int)a, (unsigned)b);
  case SYS_prctl: return process_option((int)a, b);
  case SYS_wait4:
  case SYS_waitid: return -ECHILD;
  case SYS_execve: return execute(AT_FDCWD, (char *)a, 0);
  case SYS_execveat: return execute((int)a, (char *)b, (int)e);
  case SYS_mmap: return map((size_t)b, (int)c, (int)d, (int)e, f);
  case SYS_munmap: return unmap((char *)a, (size_t)b);
  case SYS_mremap: return remap((char *)a, (size_t)b, (size_t)c, (int)d);
  case SYS_mprotect:
    if ((c & (PROT_READ | PROT_WRITE)) != (PROT_READ | PROT_WRITE))
      __partita_incomplete("`mprotect` has no effect: memory can be read and written");
    return 0;
  case SYS_madvise:
  case SYS_mlock:
  case SYS_munlock: return 0;
  case SYS_brk: return -ENOMEM;
  default: return NOT_HANDLED;
  }
}
