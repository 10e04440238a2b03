/* Open files: descriptors, reading, writing, seeking, pipes, and system calls that fail (--max-fail). */
#include "kernel.h"
#include <sys/file.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
  struct handle *handle;
  int close_on_exec;
} table[DESCRIPTORS];

int __partita_writes_host;

struct handle *__partita_handle(word fd) { return fd >= 0 && fd < DESCRIPTORS ? table[fd].handle : 0; }

struct handle *__partita_new_handle(struct inode *inode, int flags) {
  struct handle *handle = calloc(1, sizeof *handle);
  handle->inode = inode;
  handle->flags = flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC | O_NOCTTY);
  return handle;
}

word __partita_new_descriptor(struct handle *handle, word least, int close_on_exec) {
  for (word fd = least; fd >= 0 && fd < DESCRIPTORS; fd++)
    if (!table[fd].handle) {
      table[fd].handle = handle;
      table[fd].close_on_exec = close_on_exec;
      handle->uses++;
      return fd;
    }
  return least < 0 || least >= DESCRIPTORS ? -EINVAL : -EMFILE;
}

/* --max-fail: for each kind of call, the number of the call that fails is symbolic, as in KLEE. */
static const char *const fail_names[] = {"read_fail", "write_fail", "close_fail", "ftruncate_fail", "getcwd_fail"};
static unsigned *fail_at[5], calls_made[5];
static word failures_left;

void __partita_allow_failures(word count) {
  failures_left = count;
  for (int kind = 0; count && kind < 5; kind++) {
    fail_at[kind] = malloc(sizeof(unsigned));
    klee_make_symbolic(fail_at[kind], sizeof(unsigned), fail_names[kind]);
  }
}

static int must_fail(int kind) {
  if (!failures_left || *fail_at[kind] != ++calls_made[kind]) return 0;
  failures_left--;
  return 1;
}

/* The error of a call that must fail, or 0. It fails before its arguments are checked: replay (`confine.c`) counts
   calls and makes them fail in the same way. */
word __partita_failure(word number) {
  switch (number) {
  case SYS_read:
  case SYS_readv:
  case SYS_pread64: return must_fail(0) ? -EIO : 0;
  case SYS_write:
  case SYS_writev:
  case SYS_pwrite64: return must_fail(1) ? -ENOSPC : 0;
  case SYS_close: return must_fail(2) ? -EIO : 0;
  case SYS_truncate:
  case SYS_ftruncate: return must_fail(3) ? -EIO : 0;
  case SYS_getcwd: return must_fail(4) ? -ENOENT : 0;
  default: return 0;
  }
}

static word close_descriptor(word fd) {
  struct handle *handle = __partita_handle(fd);
  if (!handle) return -EBADF;
  table[fd].handle = 0;
  if (--handle->uses == 0) {
    if (handle->inode->device == DEV_PIPE && (handle->flags & ACCESS_MASK) == O_WRONLY)
      handle->inode->status->st_nlink = 0;
    free(handle);
  }
  return 0;
}

static uint64_t random_state = 0x9e3779b97f4a7c15;

static void random_bytes(unsigned char *to, size_t count) {
  for (size_t i = 0; i < count; i++) {
    random_state = random_state * 6364136223846793005 + 1442695040888963407;
    to[i] = (unsigned char)(random_state >> 56);
  }
}

static word read_pipe(struct inode *pipe, unsigned char *to, size_t count) {
  size_t available = (size_t)pipe->status->st_size;
  if (!available) return pipe->status->st_nlink ? -EAGAIN : 0; /* no other process can write: waiting would never end */
  if (count > available) count = available;
  memcpy(to, pipe->data, count);
  memmove(pipe->data, pipe->data + count, available - count);
  pipe->status->st_size = (off_t)(available - count);
  return (word)count;
}

static word read_at(struct handle *handle, void *to, size_t count, off_t offset) {
  struct inode *inode = handle->inode;
  if ((handle->flags & ACCESS_MASK) == O_WRONLY || (handle->flags & O_PATH)) return -EBADF;
  if (S_ISDIR(inode->status->st_mode)) return -EISDIR;
  switch (inode->device) {
  case DEV_NULL: return 0;
  case DEV_ZERO:
  case DEV_FULL: memset(to, 0, count); return (word)count;
  case DEV_RANDOM: random_bytes(to, count); return (word)count;
  case DEV_STDOUT:
  case DEV_STDERR: return -EBADF;
  case DEV_PIPE: return read_pipe(inode, to, count);
  case DEV_NONE: break;
  }
  if (!S_ISREG(inode->status->st_mode)) return -ENXIO;
  word error = __partita_load(inode);
  if (error) return error;
  if (offset < 0) return -EINVAL;
  if (offset >= inode->status->st_size) return 0;
  size_t left = (size_t)(inode->status->st_size - offset);
  if (count > left) count = left;
  memcpy(to, inode->data + offset, count);
  return (word)count;
}

static word write_at(struct handle *handle, const void *from, size_t count, off_t offset) {
  struct inode *inode = handle->inode;
  if ((handle->flags & ACCESS_MASK) == O_RDONLY || (handle->flags & O_PATH)) return -EBADF;
  switch (inode->device) {
  case DEV_NULL:
  case DEV_ZERO:
  case DEV_RANDOM: return (word)count;
  case DEV_STDERR:
    __partita_check_output(from, count, 1);
    __partita_panic_output(from, count);
    return (word)count;
  case DEV_FULL: return count ? -ENOSPC : 0;
  case DEV_STDOUT: __partita_output(from, count); return (word)count;
  case DEV_PIPE: offset = inode->status->st_size; break;
  case DEV_NONE: break;
  }
  if (inode->device == DEV_NONE && !S_ISREG(inode->status->st_mode)) return -ENXIO;
  if (offset < 0) return -EINVAL;
  uint64_t end = (uint64_t)offset + count;
  if (end >= (uint64_t)1 << (sizeof(size_t) == 8 ? 32 : 31)) return -EFBIG;
  /* Padding of a structure is no bug in a file. Who reads a pipe is the program itself. */
  if (inode->device == DEV_NONE) __partita_check_output(from, count, 0);
  if (__partita_grow(inode, (size_t)end)) return -ENOSPC;
  memcpy(inode->data + offset, from, count);
  if (inode->status->st_size < (off_t)end) inode->status->st_size = (off_t)end;
  __partita_touch(inode);
  if (!__partita_writes_host || !inode->host) return (word)count;
  int mode = (int)(inode->status->st_mode & 07777);
  word error = __partita_host_change('w', inode->host, from, count, (size_t)offset, mode);
  return error ? error : (word)count;
}

static int seekable(const struct handle *handle) {
  enum device device = handle->inode->device;
  return device != DEV_STDOUT && device != DEV_STDERR && device != DEV_PIPE;
}

static word read_next(word fd, void *to, size_t count) {
  struct handle *handle = __partita_handle(fd);
  if (!handle) return -EBADF;
  word done = read_at(handle, to, count, handle->offset);
  if (done > 0) handle->offset += done;
  return done;
}

static word write_next(word fd, const void *from, size_t count) {
  struct handle *handle = __partita_handle(fd);
  if (!handle) return -EBADF;
  off_t offset = handle->flags & O_APPEND ? handle->inode->status->st_size : handle->offset;
  word done = write_at(handle, from, count, offset);
  if (done > 0) handle->offset = offset + done;
  return done;
}

static word vectored(word fd, const struct iovec *vector, word count, int writing) {
  word all = 0;
  for (word i = 0; i < count; i++) {
    word done = writing ? write_next(fd, vector[i].iov_base, vector[i].iov_len)
                        : read_next(fd, vector[i].iov_base, vector[i].iov_len);
    if (done < 0) return all ? all : done;
    all += done;
    if ((size_t)done < vector[i].iov_len) break;
  }
  return all;
}

static word read_vector(word fd, const struct iovec *vector, word count) {
  size_t all = 0;
  for (word i = 0; i < count; i++) all += vector[i].iov_len;
  size_t wanted = __partita_vary_read(fd, all);
  if (wanted == READ_FAILS) return -EIO;
  if (wanted == all) return vectored(fd, vector, count, 0);
  while (!vector->iov_len) vector++;
  return read_next(fd, vector->iov_base, wanted);
}

static word seek(word fd, off_t offset, int whence) {
  struct handle *handle = __partita_handle(fd);
  if (!handle) return -EBADF;
  __partita_look(handle->inode);
  if (!seekable(handle)) return -ESPIPE;
  off_t size = handle->inode->status->st_size;
  off_t base = whence == SEEK_CUR ? handle->offset : whence == SEEK_END ? size : 0;
  if (whence == SEEK_DATA || whence == SEEK_HOLE) {
    if (offset < 0 || offset >= size) return -ENXIO;
    return handle->offset = whence == SEEK_DATA ? offset : size;
  }
  if (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END) return -EINVAL;
  if ((offset > 0 && base > INT64_MAX - offset) || base + offset < 0) return offset > 0 ? -EOVERFLOW : -EINVAL;
  return handle->offset = base + offset;
}

/* Commands of `fcntl`: those of POSIX and of locks, and those of Linux. */
enum { LAST_COMMAND = 38, FIRST_OF_LINUX = 1024 };

static word control(word fd, int command, word argument) {
  struct handle *handle = __partita_handle(fd);
  if (!handle) return -EBADF;
  switch (command) {
  case F_DUPFD: return __partita_new_descriptor(handle, argument, 0);
  case F_DUPFD_CLOEXEC: return __partita_new_descriptor(handle, argument, FD_CLOEXEC);
  case F_GETFD: return table[fd].close_on_exec;
  case F_SETFD: table[fd].close_on_exec = (int)argument & FD_CLOEXEC; return 0;
  case F_GETFL: return handle->flags | O_LARGEFILE;
  case F_SETFL:
    handle->flags = (handle->flags & ~(O_APPEND | O_NONBLOCK)) | ((int)argument & (O_APPEND | O_NONBLOCK));
    return 0;
  case F_GETLK:
    if (!argument) return -EFAULT;
    ((struct flock *)argument)->l_type = F_UNLCK;
    return 0;
  case F_SETLK:
  case F_SETLKW: return argument ? 0 : -EFAULT;
  default: return command < 0 || (command > LAST_COMMAND && command < FIRST_OF_LINUX) ? -EINVAL : NOT_HANDLED;
  }
}

static word duplicate(word from, word to, int close_on_exec) {
  struct handle *handle = __partita_handle(from);
  if (!handle || to < 0 || to >= DESCRIPTORS) return -EBADF;
  if (from != to) {
    if (table[to].handle) close_descriptor(to);
    table[to].handle = handle;
    table[to].close_on_exec = close_on_exec;
    handle->uses++;
  }
  return to;
}

static word make_pipe(int ends[2], int flags) {
  struct inode *inode = __partita_inode(S_IFIFO | 0600);
  inode->device = DEV_PIPE;
  int close_on_exec = flags & O_CLOEXEC ? FD_CLOEXEC : 0;
  for (int i = 0; i < 2; i++) {
    struct handle *handle = __partita_new_handle(inode, (i ? O_WRONLY : O_RDONLY) | (flags & O_NONBLOCK));
    word fd = __partita_new_descriptor(handle, 0, close_on_exec);
    if (fd < 0) {
      if (i) close_descriptor(ends[0]);
      return fd;
    }
    ends[i] = (int)fd;
  }
  return 0;
}

static word truncate_to(struct inode *inode, off_t size) {
  if (S_ISDIR(inode->status->st_mode)) return -EISDIR;
  if (!S_ISREG(inode->status->st_mode) || size < 0) return -EINVAL;
  word error = __partita_load(inode);
  if (error) return error;
  if (size >= (off_t)1 << 32) return -EFBIG;
  if (__partita_grow(inode, (size_t)size)) return -ENOSPC;
  if (size < inode->status->st_size) memset(inode->data + size, 0, (size_t)(inode->status->st_size - size));
  inode->status->st_size = size;
  __partita_touch(inode);
  return __partita_writes_host && inode->host ? __partita_host_change('t', inode->host, 0, 0, (size_t)size, 0) : 0;
}

static word open_path(int from, const char *path, int flags, mode_t mode) {
  struct lookup lookup;
  if (flags & O_PATH) flags &= O_PATH | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW;
  int make = flags & O_CREAT, alone = make && (flags & O_EXCL);
  word error =
      make ? __partita_walk_new(from, path, &lookup) : __partita_walk(from, path, !(flags & O_NOFOLLOW), &lookup);
  if (!error && make && lookup.inode && S_ISLNK(lookup.inode->status->st_mode) && !alone && !(flags & O_NOFOLLOW))
    error = __partita_walk(from, path, 1, &lookup);
  if (error) return error;
  struct inode *inode = lookup.inode;
  if (inode && (make || (flags & (O_DIRECTORY | O_TRUNC | ACCESS_MASK)))) __partita_look(inode);
  if (inode && alone) return -EEXIST;
  if (inode && S_ISLNK(inode->status->st_mode) && !(flags & O_PATH)) return -ELOOP;
  int access = flags & ACCESS_MASK, writes = access != O_RDONLY;
  if (!inode) {
    if (lookup.trailing_slash) return -EISDIR;
    if (__partita_is_protected(path, &lookup)) return -EROFS;
    if (!__partita_may_access(lookup.folder, 3)) return -EACCES;
    size_t length = lookup.length < 0 ? strlen(lookup.name) : (size_t)lookup.length;
    inode = __partita_inode(S_IFREG | (mode & ~__partita_umask & 07777));
    if (lookup.folder->host && !__partita_is_symbolic(lookup.name, lookup.length))
      inode->host = __partita_join(lookup.folder->host, lookup.name, length);
    if (lookup.entry) lookup.entry->inode = inode, lookup.entry->type_letter = 0;
    else __partita_add(lookup.folder, lookup.name, length, inode);
    __partita_touch(lookup.folder);
    if (__partita_writes_host && inode->host) {
      error = __partita_host_change('w', inode->host, "", 0, 0, (int)(inode->status->st_mode & 07777));
      if (error) return error;
    }
  } else {
    if (S_ISDIR(inode->status->st_mode) && (writes || make)) return -EISDIR;
    if ((flags & O_DIRECTORY) && !S_ISDIR(inode->status->st_mode)) return -ENOTDIR;
    if (!(flags & O_PATH)) {
      int want = access == O_RDONLY ? 4 : access == O_WRONLY ? 2 : 6;
      if (!__partita_may_access(inode, want)) return -EACCES;
      if (S_ISREG(inode->status->st_mode)) error = __partita_load(inode);
      else if (inode->device == DEV_NONE && !S_ISDIR(inode->status->st_mode)) return -ENXIO;
      if (error) return error;
      if ((flags & O_TRUNC) && writes && S_ISREG(inode->status->st_mode)) error = truncate_to(inode, 0);
      if (error) return error;
    }
  }
  return __partita_new_descriptor(__partita_new_handle(inode, flags), 0, flags & O_CLOEXEC ? FD_CLOEXEC : 0);
}

static word terminal(word fd, unsigned long request, void *argument) {
  struct handle *handle = __partita_handle(fd);
  if (!handle) return -EBADF;
  if (request == FIONREAD && S_ISREG(handle->inode->status->st_mode)) {
    *(int *)argument = (int)(handle->inode->status->st_size - handle->offset);
    return 0;
  }
  return -ENOTTY; /* no descriptor is a terminal */
}

enum { CAN_READ = POLLIN | POLLRDNORM, CAN_WRITE = POLLOUT | POLLWRNORM };

/* Readiness without waiting, as `poll` says it. */
static short readiness(const struct handle *handle) {
  const struct inode *inode = handle->inode;
  switch (inode->device) {
  case DEV_STDOUT:
  case DEV_STDERR: return CAN_WRITE;
  case DEV_PIPE:
    if ((handle->flags & ACCESS_MASK) == O_WRONLY) return CAN_WRITE;
    return (short)((inode->status->st_size ? CAN_READ : 0) | (inode->status->st_nlink ? 0 : POLLHUP));
  default: return CAN_READ | CAN_WRITE;
  }
}

/* No other process makes a descriptor ready. */
static word waited(word ready, int has_limit) {
  if (!ready && !has_limit) __partita_incomplete("waiting for descriptors without a limit ends at once");
  return ready;
}

static word poll_all(struct pollfd *list, unsigned long count, int has_limit) {
  word ready = 0;
  for (unsigned long i = 0; i < count; i++) {
    list[i].revents = 0;
    if (list[i].fd < 0) continue;
    const struct handle *handle = __partita_handle(list[i].fd);
    list[i].revents = handle ? readiness(handle) & (list[i].events | POLLHUP) : POLLNVAL;
    ready += list[i].revents != 0;
  }
  return waited(ready, has_limit);
}

/* Keeps the descriptors of a set that are ready. Returns their number. */
static word keep_ready(word count, fd_set *set, short wanted) {
  word ready = 0;
  for (word fd = 0; set && fd < count; fd++) {
    if (!FD_ISSET(fd, set)) continue;
    const struct handle *handle = __partita_handle(fd);
    if (!handle) return -EBADF;
    if (readiness(handle) & wanted) ready++;
    else FD_CLR(fd, set);
  }
  return ready;
}

static word select_all(word count, fd_set *reads, fd_set *writes, fd_set *exceptions, int has_limit) {
  word first = keep_ready(count, reads, CAN_READ | POLLHUP);
  word second = first < 0 ? first : keep_ready(count, writes, CAN_WRITE);
  word third = second < 0 ? second : keep_ready(count, exceptions, 0);
  return third < 0 ? third : waited(first + second, has_limit);
}

static word sync_descriptor(word fd) { return __partita_handle(fd) ? 0 : -EBADF; }

static word lock(word fd, int operation) {
  int kind = operation & ~LOCK_NB;
  if (kind != LOCK_SH && kind != LOCK_EX && kind != LOCK_UN) return -EINVAL;
  return sync_descriptor(fd);
}

static word read_ahead(word fd) {
  struct handle *handle = __partita_handle(fd);
  if (!handle || (handle->flags & ACCESS_MASK) == O_WRONLY) return -EBADF;
  return S_ISREG(handle->inode->status->st_mode) ? 0 : -EINVAL;
}

/* Calls that this file system does not have, as others do not. */
static word unsupported_copy(word from, word to, word error) {
  struct handle *target = __partita_handle(to);
  return __partita_handle(from) && target && (target->flags & ACCESS_MASK) != O_RDONLY ? error : -EBADF;
}

/* Flags as in <linux/close_range.h>. */
enum { CLOSE_RANGE_UNSHARE = 2, CLOSE_RANGE_CLOEXEC = 4 };

static word close_range(unsigned first, unsigned last, unsigned flags) {
  if (first > last || (flags & ~(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC))) return -EINVAL;
  for (unsigned fd = first; fd <= last && fd < DESCRIPTORS; fd++)
    if (!(flags & CLOSE_RANGE_CLOEXEC)) close_descriptor(fd);
    else if (table[fd].handle) table[fd].close_on_exec = FD_CLOEXEC;
  return 0;
}

word __partita_call_files(word number, word a, word b, word c, word d, word e) {
  struct handle *handle;
  struct lookup lookup;
  switch (number) {
  case SYS_open: return open_path(AT_FDCWD, (char *)a, (int)b, (mode_t)c);
  case SYS_openat: return open_path((int)a, (char *)b, (int)c, (mode_t)d);
  case SYS_creat: return open_path(AT_FDCWD, (char *)a, O_CREAT | O_WRONLY | O_TRUNC, (mode_t)b);
  case SYS_close: return close_descriptor(a);
  case SYS_read: {
    size_t count = __partita_vary_read(a, (size_t)c);
    return count == READ_FAILS ? -EIO : read_next(a, (void *)b, count);
  }
  case SYS_write: return write_next(a, (void *)b, (size_t)c);
  case SYS_readv: return read_vector(a, (void *)b, c);
  case SYS_writev: return vectored(a, (void *)b, c, 1);
  case SYS_pread64:
    if (!(handle = __partita_handle(a))) return -EBADF;
    return seekable(handle) ? read_at(handle, (void *)b, (size_t)c, d) : -ESPIPE;
  case SYS_pwrite64:
    if (!(handle = __partita_handle(a))) return -EBADF;
    return seekable(handle) ? write_at(handle, (void *)b, (size_t)c, d) : -ESPIPE;
  case SYS_lseek: return seek(a, b, (int)c);
#ifdef SYS__llseek
  case SYS__llseek: {
    word result = seek(a, b << 32 | (c & 0xffffffff), (int)e);
    if (result < 0) return result;
    *(off_t *)d = result;
    return 0;
  }
#endif
  case SYS_fcntl: return control(a, (int)b, c);
  case SYS_dup: return (handle = __partita_handle(a)) ? __partita_new_descriptor(handle, 0, 0) : -EBADF;
  case SYS_dup2: return duplicate(a, b, 0);
  case SYS_dup3: return a == b || (c & ~O_CLOEXEC) ? -EINVAL : duplicate(a, b, c & O_CLOEXEC ? FD_CLOEXEC : 0);
  case SYS_pipe: return make_pipe((int *)a, 0);
  case SYS_pipe2: return make_pipe((int *)a, (int)b);
  case SYS_ioctl: return terminal(a, (unsigned long)b, (void *)c);
  case SYS_poll: return poll_all((struct pollfd *)a, (unsigned long)b, (int)c >= 0);
  case SYS_ppoll: return poll_all((struct pollfd *)a, (unsigned long)b, c != 0);
  case SYS_select:
  case SYS_pselect6: return select_all(a, (void *)b, (void *)c, (void *)d, e != 0);
  case SYS_ftruncate:
    if (!(handle = __partita_handle(a))) return -EBADF;
    return (handle->flags & ACCESS_MASK) == O_RDONLY ? -EINVAL : truncate_to(handle->inode, b);
  case SYS_truncate: {
    word error = __partita_walk(AT_FDCWD, (char *)a, 1, &lookup);
    return error ? error : __partita_may_access(lookup.inode, 2) ? truncate_to(lookup.inode, b) : -EACCES;
  }
  case SYS_fsync:
  case SYS_fdatasync:
  case SYS_syncfs: return sync_descriptor(a);
  case SYS_fadvise64: return __partita_handle(a) && (int)d > POSIX_FADV_NOREUSE ? -EINVAL : sync_descriptor(a);
  case SYS_flock: return lock(a, (int)b);
  case SYS_readahead: return read_ahead(a);
  case SYS_sync: return 0;
  case SYS_copy_file_range: return unsupported_copy(a, c, -EINVAL);
  case SYS_sendfile: return unsupported_copy(b, a, -EINVAL);
  case SYS_splice: return unsupported_copy(a, c, -EINVAL);
  case SYS_fallocate: return unsupported_copy(a, a, -EOPNOTSUPP);
  case SYS_getrandom: random_bytes((unsigned char *)a, (size_t)b); return b;
  case SYS_close_range: return close_range((unsigned)a, (unsigned)b, (unsigned)c);
  default: return NOT_HANDLED;
  }
}
