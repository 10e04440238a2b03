/* Runs a test of a whole program where it can do no harm: confine REPORT FOLDER EXTRA PROGRAM ARGV...
   In namespaces of its own the file system is read-only but for FOLDER, the file EXTRA (if not empty) and /dev/null, there
   are no other devices, no network and no processes to signal but the program's own. An empty FOLDER leaves all that out.
   The working folder is `work` below FOLDER already. Ends as the program ends; what goes wrong before goes to REPORT. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program that writes without end meets this limit before the disk is full. */
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

static void confine(const char *folder, const char *extra) {
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
  /* The folder we are in is still the one below the new mount. */
  must(chdir(folder), folder);
  must(chdir("work"), "work");
}

/* The first process of the namespace, which signals cannot end, so that the program must not be it. */
static void first(int answer, char **arguments) {
  pid_t program = fork();
  must(program, "fork");
  if (program == 0) {
    close(answer);
    execv(arguments[0], arguments + 1);
    must(-1, arguments[0]);
  }
  int status = 0;
  while (waitpid(-1, &status, 0) != program) {}
  must(write(answer, &status, sizeof status) == sizeof status ? 0 : -1, "answer");
  _exit(0);
}

int main(int count, char **words) {
  if (count < 6) return 2;
  report = open(words[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (report < 0) return 2;
  struct rlimit files = {LARGEST_FILE, LARGEST_FILE}, none = {0, 0};
  must(setrlimit(RLIMIT_FSIZE, &files), "limits");
  must(setrlimit(RLIMIT_CORE, &none), "limits");
  if (*words[2]) confine(words[2], words[3]);
  int answer[2];
  must(pipe2(answer, O_CLOEXEC), "pipe");
  pid_t child = fork();
  must(child, "fork");
  if (child == 0) {
    close(answer[0]);
    first(answer[1], words + 4);
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
