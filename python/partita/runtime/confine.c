/* Runs a test of a whole program confined: confine REPORT FOLDER EXTRA FAILURES ENVIRONMENT PROGRAM ARGV...
   New namespaces confine it: the file system is read-only except FOLDER, the file EXTRA (if not empty) and /dev/null;
   /tmp is a new folder, in which FOLDER, EXTRA and PROGRAM are if they were in the machine's; no other devices; no network; only the program's own processes can be signalled. An empty FOLDER disables confinement.
   The working folder is `around/work` in FOLDER. FAILURES makes system calls fail, as in the kernel model: the number of failures,
   then for reading, writing, closing, truncating and getcwd the number of the call that fails, then the numbers of a
   reading call that fails, of one that reads a single byte, 1 if writing to standard output fails, and the number of a closing call
   that fails; empty if none does. ENVIRONMENT is a file with the entries
   of the program's environment, each with a zero byte at its end.
   Clocks are those of the kernel model. Ends with the program's status; errors before that are written to REPORT. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* LARGEST_FILE keeps a program that writes without end from filling the disk. */
enum { LARGEST_FILE = 64 << 20, RECURSIVE = 0x8000, READ_ONLY = 1, NO_DEVICES = 4 };

struct attributes {
  uint64_t set, clear, propagation, user;
};

static int report;

static void must(int result, const char *what) {
  if (result >= 0) return;
  dprintf(report, "%s: %s", what, strerror(errno));
  _exit(99);
}

static void put(const char *path, const char *text) {
  int file = open(path, O_WRONLY);
  must(file, path);
  must(write(file, text, strlen(text)), path);
  close(file);
}

static void change(const char *path, unsigned flags, uint64_t set, uint64_t clear) {
  struct attributes wanted = {set, clear, 0, 0};
  must((int)syscall(SYS_mount_setattr, AT_FDCWD, path, flags, &wanted, sizeof wanted), "mount_setattr");
}

/* Makes the folders of a path below /tmp, and a folder or an empty file for its last name. */
static void make_place(const char *path, int is_folder) {
  char name[4096];
  snprintf(name, sizeof name, "%s", path);
  for (char *slash = name + 5; (slash = strchr(slash, '/')); *slash++ = '/') {
    *slash = 0;
    mkdir(name, 0755);
  }
  if (is_folder) mkdir(name, 0755);
  else close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

/* Mounts an empty /tmp, so that programs can have temporary files, and these paths at their places in it. */
static void mount_tmp(const char *const *kept, int count) {
  int files[4];
  for (int i = 0; i < count; i++) files[i] = strncmp(kept[i], "/tmp/", 5) ? -1 : open(kept[i], O_PATH | O_CLOEXEC);
  must(mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=64m,mode=1777"), "/tmp");
  for (int i = 0; i < count; i++) {
    struct stat status;
    char from[64];
    if (files[i] < 0) continue;
    must(fstat(files[i], &status), kept[i]);
    make_place(kept[i], S_ISDIR(status.st_mode));
    snprintf(from, sizeof from, "/proc/self/fd/%d", files[i]);
    must(mount(from, kept[i], NULL, MS_BIND, NULL), kept[i]);
  }
}

static void confine(const char *folder, const char *extra, const char *program) {
  char map[64], group[64];
  snprintf(map, sizeof map, "%u %u 1", getuid(), getuid());
  snprintf(group, sizeof group, "%u %u 1", getgid(), getgid());
  must(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC), "unshare");
  put("/proc/self/setgroups", "deny");
  put("/proc/self/uid_map", map);
  put("/proc/self/gid_map", group);
  must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private mounts");
  const char *writable[] = {folder, "/dev/null", *extra ? extra : NULL};
  for (int i = 0; i < 3; i++)
    if (writable[i]) must(mount(writable[i], writable[i], NULL, MS_BIND, NULL), writable[i]);
  change("/", RECURSIVE, READ_ONLY | NO_DEVICES, 0);
  for (int i = 0; i < 3; i++)
    if (writable[i]) change(writable[i], 0, 0, READ_ONLY | (i == 1 ? NO_DEVICES : 0));
  const char *kept[] = {folder, extra, program};
  if (!access("/tmp", F_OK)) mount_tmp(kept, 3);
  /* The working folder still refers to the folder under the new mount. */
  must(chdir(folder), folder);
  must(chdir("around/work"), "work");
}

/* System calls that the supervisor handles: those that can fail, by kind, with their errors as in
   `posix/descriptors.c`, and the clock. */
enum { KINDS = 5, CLOCK = KINDS };
static const struct {
  int number, kind, error;
} handled[] = {
    {SYS_read, 0, EIO},       {SYS_readv, 0, EIO},       {SYS_pread64, 0, EIO},         {SYS_write, 1, ENOSPC},
    {SYS_writev, 1, ENOSPC},  {SYS_pwrite64, 1, ENOSPC}, {SYS_close, 2, EIO},           {SYS_truncate, 3, EIO},
    {SYS_ftruncate, 3, EIO},  {SYS_getcwd, 4, ENOENT},   {SYS_clock_gettime, CLOCK, 0},
};
enum { HANDLED = sizeof handled / sizeof *handled };

/* Installs a filter that sends these calls to the supervisor, or only the clock if no call is to fail. */
static int install_filter(int failures) {
  struct sock_filter code[HANDLED + 3] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
      [HANDLED + 1] = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
      [HANDLED + 2] = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF},
  };
  for (int i = 0; i < HANDLED; i++) {
    int filtered = failures || handled[i].kind == CLOCK;
    unsigned char to = (unsigned char)(filtered ? HANDLED - i : 0);
    code[i + 1] = (struct sock_filter){BPF_JMP | BPF_JEQ | BPF_K, to, 0, (unsigned)handled[i].number};
  }
  struct sock_fprog filter = {HANDLED + 3, code};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
  int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
  must(listener, "seccomp");
  return listener;
}

/* Sends a descriptor through a socket, or receives one if `descriptor` is negative. */
static int pass(int socket, int descriptor) {
  char byte = 0, room[CMSG_SPACE(sizeof descriptor)] = {0};
  struct iovec vector = {&byte, 1};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  if (descriptor < 0) {
    must((int)recvmsg(socket, &message, MSG_CMSG_CLOEXEC), "recvmsg");
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header) memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
  }
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  *header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof descriptor), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  must((int)sendmsg(socket, &message, 0), "sendmsg");
  return descriptor;
}

static unsigned failures_left, fail_at[KINDS], calls_made[KINDS], short_read, is_full, fault_at[KINDS], all_made[KINDS];
static long long now = 1700000000000000000; /* as in `posix/time.c` */

/* Writes the time of the kernel model's clock to the program's memory. */
static void write_time(const struct seccomp_notif *call) {
  long long which = (long long)call->data.args[0], time = now += 1000;
  if (which != CLOCK_REALTIME && which != CLOCK_REALTIME_COARSE && which != CLOCK_TAI) time -= 1699999000000000000;
  struct timespec parts = {time / 1000000000, time % 1000000000};
  struct iovec from = {&parts, sizeof parts}, to = {(void *)call->data.args[1], sizeof parts};
  process_vm_writev((pid_t)call->pid, &from, 1, &to, 1, 0);
}

/* Reads one byte for the program. Returns the result of the call. */
static long read_one(const struct seccomp_notif *call) {
  struct iovec first = {(void *)call->data.args[1], 1};
  if (call->data.nr == SYS_readv)
    for (unsigned long i = 0; i < call->data.args[2]; i++) {
      struct iovec from = {(struct iovec *)call->data.args[1] + i, sizeof first}, to = {&first, sizeof first};
      if (process_vm_readv((pid_t)call->pid, &to, 1, &from, 1, 0) != sizeof first) return -EFAULT;
      if (first.iov_len) break;
    }
  int process = (int)syscall(SYS_pidfd_open, call->pid, 0);
  int file = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, (int)call->data.args[0], 0);
  char byte;
  long count = file < 0 ? -1 : read(file, &byte, 1);
  long result = count < 0 ? -errno : count;
  if (count == 1) {
    struct iovec from = {&byte, 1}, to = {first.iov_base, 1};
    if (process_vm_writev((pid_t)call->pid, &from, 1, &to, 1, 0) != 1) result = -EFAULT;
  }
  if (file >= 0) close(file);
  if (process >= 0) close(process);
  return result;
}

static void handle_call(int listener) {
  struct seccomp_notif call = {0};
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0) return; /* the program has ended */
  struct seccomp_notif_resp answer = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
  for (int i = 0; i < HANDLED; i++) {
    int kind = handled[i].kind;
    if (call.data.nr != handled[i].number) continue;
    if (kind != CLOCK) all_made[kind]++;
    if (kind == CLOCK) {
      write_time(&call);
      answer.flags = 0;
    } else if (all_made[kind] == fault_at[kind] || (kind == 1 && is_full && call.data.args[0] == 1)) {
      answer.flags = 0;
      answer.error = -handled[i].error;
    } else if (kind == 0 && all_made[0] == short_read && call.data.nr != SYS_pread64) {
      long result = read_one(&call);
      answer.flags = 0;
      if (result < 0) answer.error = (int)result;
      else answer.val = result;
    } else if (failures_left && fail_at[kind] == ++calls_made[kind]) {
      failures_left--;
      answer.flags = 0;
      answer.error = -handled[i].error;
    }
  }
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Removes the vDSO from the auxiliary vector of a program stopped after execve, so that it reads clocks by system calls.
   The auxiliary vector follows the arguments and the environment on the stack. */
static void hide_clock(pid_t program) {
  struct user_regs_struct registers;
  must((int)ptrace(PTRACE_GETREGS, program, 0, &registers), "ptrace");
  unsigned long at = registers.rsp + 8;
  for (int lists = 0; lists < 2; at += 8)
    if (!ptrace(PTRACE_PEEKDATA, program, at, 0)) lists++;
  for (long type; (type = ptrace(PTRACE_PEEKDATA, program, at, 0)) != AT_NULL; at += 16)
    if (type == AT_SYSINFO_EHDR) ptrace(PTRACE_POKEDATA, program, at, AT_IGNORE);
  must((int)ptrace(PTRACE_DETACH, program, 0, 0), "ptrace");
}

/* Handles system calls until the program ends; returns its status. */
static int supervise(int listener, pid_t program) {
  int status = 0, started = 0;
  struct pollfd wait = {listener, POLLIN, 0};
  for (;;) {
    if (waitpid(program, &status, WNOHANG) == program) {
      if (!WIFSTOPPED(status)) return status;
      hide_clock(program);
      started = 1;
    }
    /* The end of the program wakes `poll`, unless it has children that outlive it. */
    poll(&wait, 1, started ? 20 : 1);
    if (wait.revents & POLLIN) handle_call(listener);
    else if (wait.revents) break;
  }
  while (waitpid(-1, &status, 0) != program) {}
  return status;
}

/* Leaves a program that runs as root what its rights to files need. With others it could undo the confinement. */
static void drop_capabilities(void) {
  const uint64_t kept = 1ull << CAP_CHOWN | 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_DAC_READ_SEARCH | 1ull << CAP_FOWNER |
                        1ull << CAP_FSETID;
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
    if (!(kept >> capability & 1)) must(prctl(PR_CAPBSET_DROP, capability, 0, 0, 0), "capabilities");
}

/* Process 1 of the namespace. Signals cannot end it, so the program must be another process. */
static void run_init(int answer, int confined, const char *failures, char **environment, char **arguments) {
  unsigned *at = fail_at;
  sscanf(failures, "%u %u %u %u %u %u %u %u %u %u", &failures_left, at, at + 1, at + 2, at + 3, at + 4, fault_at,
         &short_read, &is_full, fault_at + 2);
  int sockets[2];
  must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), "socketpair");
  pid_t program = fork();
  must(program, "fork");
  if (program == 0) {
    close(answer);
    must((int)ptrace(PTRACE_TRACEME, 0, 0, 0), "ptrace");
    int listener = pass(sockets[1], install_filter(*failures != 0));
    fcntl(listener, F_SETFD, FD_CLOEXEC);
    if (confined) drop_capabilities();
    execve(arguments[0], arguments + 1, environment);
    must(-1, arguments[0]);
  }
  int status = supervise(pass(sockets[0], -1), program);
  must(write(answer, &status, sizeof status) == sizeof status ? 0 : -1, "answer");
  _exit(0);
}

/* Entries of the file, as execve wants them. */
static char **read_environment(const char *path) {
  static char text[1 << 20];
  static char *entries[1 << 10];
  int file = open(path, O_RDONLY | O_CLOEXEC);
  must(file, path);
  long size = read(file, text, sizeof text - 1);
  must((int)size, path);
  close(file);
  int count = 0;
  for (char *at = text; at < text + size && count < (1 << 10) - 1; at += strlen(at) + 1) entries[count++] = at;
  return entries;
}

int main(int count, char **words) {
  if (count < 8) return 2;
  report = open(words[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (report < 0) return 2;
  struct rlimit files = {LARGEST_FILE, LARGEST_FILE}, none = {0, 0};
  must(setrlimit(RLIMIT_FSIZE, &files), "limits");
  must(setrlimit(RLIMIT_CORE, &none), "limits");
  char **environment = read_environment(words[5]);
  if (*words[2]) confine(words[2], words[3], words[6]);
  int answer[2];
  must(pipe2(answer, O_CLOEXEC), "pipe");
  pid_t child = fork();
  must(child, "fork");
  if (child == 0) {
    close(answer[0]);
    run_init(answer[1], *words[2] != 0, words[4], environment, words + 6);
  }
  close(answer[1]);
  int status = 0;
  if (read(answer[0], &status, sizeof status) != sizeof status) status = 99 << 8;
  waitpid(child, NULL, 0);
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  return WEXITSTATUS(status);
}
