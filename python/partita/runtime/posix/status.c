/* Status, modes, owners, times and access of files. */
#include "kernel.h"
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

extern word __partita_now(void);

static word copy_status(struct inode *inode, struct stat *to) {
  __partita_look(inode);
  *to = *inode->status;
  if (inode->device == DEV_PIPE) to->st_size = 0; /* there it is the number of bytes that wait */
  return 0;
}

static word status_of(int from, const char *path, struct stat *to, int flags) {
  struct lookup lookup;
  struct handle *handle;
  if ((flags & AT_EMPTY_PATH) && !*path) {
    if (!(handle = __partita_handle(from))) return -EBADF;
    return copy_status(handle->inode, to);
  }
  word error = __partita_walk(from, path, !(flags & AT_SYMLINK_NOFOLLOW), &lookup);
  return error ? error : copy_status(lookup.inode, to);
}

static word may_access(int from, const char *path, int want, int flags) {
  struct lookup lookup;
  if (want & ~7) return -EINVAL;
  word error = __partita_walk(from, path, !(flags & AT_SYMLINK_NOFOLLOW), &lookup);
  return error ? error : !want || __partita_may_access(lookup.inode, want) ? 0 : -EACCES;
}

static word check_owner(const struct inode *inode) {
  return __partita_uid == 0 || inode->status->st_uid == (uid_t)__partita_uid ? 0 : -EPERM;
}

static word set_mode(struct inode *inode, mode_t mode) {
  word error = check_owner(inode);
  if (error) return error;
  struct stat *s = inode->status;
  s->st_mode = (s->st_mode & S_IFMT) | (mode & 07777);
  s->st_ctime = __partita_now();
  if (!__partita_writes_host || !inode->host) return 0;
  return __partita_host_change('m', inode->host, 0, 0, 0, (int)(mode & 07777));
}

static word set_path_mode(int from, const char *path, int flags, mode_t mode) {
  struct lookup lookup;
  word error = __partita_walk(from, path, !(flags & AT_SYMLINK_NOFOLLOW), &lookup);
  return error ? error : set_mode(lookup.inode, mode);
}

static word set_owner(struct inode *inode, uid_t owner, gid_t group) {
  struct stat *s = inode->status;
  if (__partita_uid != 0 && ((owner != (uid_t)-1 && owner != s->st_uid) || check_owner(inode))) return -EPERM;
  if (owner != (uid_t)-1) s->st_uid = owner;
  if (group != (gid_t)-1) s->st_gid = group;
  s->st_ctime = __partita_now();
  return 0;
}

static word set_path_owner(int from, const char *path, int flags, uid_t owner, gid_t group) {
  struct lookup lookup;
  word error = __partita_walk(from, path, !(flags & AT_SYMLINK_NOFOLLOW), &lookup);
  return error ? error : set_owner(lookup.inode, owner, group);
}

static word set_times(struct inode *inode, const struct timespec times[2]) {
  word error = check_owner(inode);
  if (error) return error;
  struct stat *s = inode->status;
  struct timespec now = {__partita_now(), 0};
  if (!times) {
    s->st_atim = s->st_mtim = now;
    return 0;
  }
  if (times[0].tv_nsec != UTIME_OMIT) s->st_atim = times[0].tv_nsec == UTIME_NOW ? now : times[0];
  if (times[1].tv_nsec != UTIME_OMIT) s->st_mtim = times[1].tv_nsec == UTIME_NOW ? now : times[1];
  return 0;
}

static word set_path_times(int from, const char *path, const struct timespec times[2], int flags) {
  struct lookup lookup;
  if (!path) {
    struct handle *handle = __partita_handle(from);
    return handle ? set_times(handle->inode, times) : -EBADF;
  }
  word error = __partita_walk(from, path, !(flags & AT_SYMLINK_NOFOLLOW), &lookup);
  if (!error && S_ISDIR(lookup.inode->status->st_mode) && __partita_is_protected(path, &lookup)) error = -EROFS;
  return error ? error : set_times(lookup.inode, times);
}

static word set_old_times(int from, const char *path, const struct timeval old[2]) {
  if (!old) return set_path_times(from, path, 0, 0);
  struct timespec times[2] = {{old[0].tv_sec, old[0].tv_usec * 1000}, {old[1].tv_sec, old[1].tv_usec * 1000}};
  return set_path_times(from, path, times, 0);
}

static word file_system(struct statfs *to) {
  memset(to, 0, sizeof *to);
  to->f_type = 0xef53;
  to->f_bsize = to->f_frsize = 4096;
  to->f_blocks = to->f_files = 1 << 20;
  to->f_bfree = to->f_bavail = to->f_ffree = 1 << 19;
  to->f_namelen = NAME_LENGTH;
  return 0;
}

/* Extended attributes: a file system without them. */
static word no_attributes(const char *path, int follow) {
  struct lookup lookup;
  word error = __partita_walk(AT_FDCWD, path, follow, &lookup);
  return error ? error : -EOPNOTSUPP;
}

word __partita_call_status(word number, word a, word b, word c, word d, word e) {
  struct handle *handle;
  struct lookup lookup;
  word error;
  switch (number) {
  case SYS_stat: return status_of(AT_FDCWD, (char *)a, (struct stat *)b, 0);
  case SYS_lstat: return status_of(AT_FDCWD, (char *)a, (struct stat *)b, AT_SYMLINK_NOFOLLOW);
  case SYS_newfstatat: return status_of((int)a, (char *)b, (struct stat *)c, (int)d);
  case SYS_fstat: return status_of((int)a, "", (struct stat *)b, AT_EMPTY_PATH);
  case SYS_statx: return -ENOSYS; /* as in an older kernel: callers fall back to the other calls */
  case SYS_access: return may_access(AT_FDCWD, (char *)a, (int)b, 0);
  case SYS_faccessat: return may_access((int)a, (char *)b, (int)c, 0);
  case SYS_faccessat2: return may_access((int)a, (char *)b, (int)c, (int)d);
  case SYS_chmod: return set_path_mode(AT_FDCWD, (char *)a, 0, (mode_t)b);
  case SYS_fchmodat:
  case SYS_fchmodat2: return set_path_mode((int)a, (char *)b, (int)d, (mode_t)c);
  case SYS_fchmod: return (handle = __partita_handle(a)) ? set_mode(handle->inode, (mode_t)b) : -EBADF;
  case SYS_chown: return set_path_owner(AT_FDCWD, (char *)a, 0, (uid_t)b, (gid_t)c);
  case SYS_lchown: return set_path_owner(AT_FDCWD, (char *)a, AT_SYMLINK_NOFOLLOW, (uid_t)b, (gid_t)c);
  case SYS_fchownat: return set_path_owner((int)a, (char *)b, (int)e, (uid_t)c, (gid_t)d);
  case SYS_fchown: return (handle = __partita_handle(a)) ? set_owner(handle->inode, (uid_t)b, (gid_t)c) : -EBADF;
  case SYS_utimensat: return set_path_times((int)a, (char *)b, (struct timespec *)c, (int)d);
  case SYS_utimes: return set_old_times(AT_FDCWD, (char *)a, (struct timeval *)b);
  case SYS_futimesat: return set_old_times((int)a, (char *)b, (struct timeval *)c);
  case SYS_statfs:
    error = __partita_walk(AT_FDCWD, (char *)a, 1, &lookup);
    return error ? error : file_system((struct statfs *)b);
  case SYS_fstatfs: return __partita_handle(a) ? file_system((struct statfs *)b) : -EBADF;
  case SYS_getxattr:
  case SYS_listxattr:
  case SYS_setxattr: return no_attributes((char *)a, 1);
  case SYS_lgetxattr:
  case SYS_llistxattr:
  case SYS_lsetxattr: return no_attributes((char *)a, 0);
  case SYS_fgetxattr:
  case SYS_flistxattr:
  case SYS_fsetxattr: return __partita_handle(a) ? -EOPNOTSUPP : -EBADF;
  default: return NOT_HANDLED;
  }
}
