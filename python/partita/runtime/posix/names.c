/* Names in folders: links, removing, renaming, making folders, listing, the current folder. */
#include "kernel.h"
#include <dirent.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t length_of(const struct lookup *lookup) {
  return lookup->length < 0 ? strlen(lookup->name) : (size_t)lookup->length;
}

/* Looks up a path at which a new file can be made. */
static word walk_to_new_name(int from, const char *path, struct lookup *to) {
  word error = __partita_walk_new(from, path, to);
  if (error) return error;
  if (to->inode) return -EEXIST;
  if (__partita_is_protected(path, to)) return -EROFS;
  return __partita_may_access(to->folder, 3) ? 0 : -EACCES;
}

static void put_inode(struct lookup *lookup, struct inode *inode) {
  if (lookup->folder->host && !__partita_is_symbolic(lookup->name, lookup->length))
    inode->host = __partita_join(lookup->folder->host, lookup->name, length_of(lookup));
  if (lookup->entry) {
    lookup->entry->inode = inode;
    lookup->entry->type_letter = 0;
    if (S_ISDIR(inode->status->st_mode)) inode->parent = lookup->folder;
  } else {
    __partita_add(lookup->folder, lookup->name, length_of(lookup), inode);
  }
  __partita_touch(lookup->folder);
}

static word on_host(char what, const struct inode *inode, const char *other, int mode) {
  if (!__partita_writes_host || !inode->host) return 0;
  return __partita_host_change(what, inode->host, other, 0, 0, mode);
}

static word make_folder(int from, const char *path, mode_t mode) {
  struct lookup lookup;
  word error = walk_to_new_name(from, path, &lookup);
  if (error) return error;
  struct inode *inode = __partita_inode(S_IFDIR | (mode & ~__partita_umask & 01777));
  put_inode(&lookup, inode);
  lookup.folder->status->st_nlink++;
  return on_host('d', inode, 0, (int)(inode->status->st_mode & 07777));
}

static int is_empty(struct inode *folder) {
  __partita_load(folder);
  for (struct entry *entry = folder->entries; entry; entry = entry->next)
    if (entry->inode || entry->type_letter) return 0;
  return 1;
}

static word remove_entry(struct lookup *lookup) {
  struct inode *inode = lookup->inode;
  lookup->entry->inode = 0;
  lookup->entry->type_letter = 0;
  inode->status->st_nlink--;
  __partita_touch(lookup->folder);
  return 0;
}

static word remove_name(int from, const char *path, int folder) {
  struct lookup lookup;
  word error = __partita_walk_new(from, path, &lookup);
  if (error) return error;
  if (!lookup.inode) return -ENOENT;
  if (!lookup.folder && !folder) return -EISDIR;
  if (!lookup.folder) return !lookup.length ? -EBUSY : lookup.name[1] == '.' ? -ENOTEMPTY : -EINVAL;
  if (!__partita_may_access(lookup.folder, 3)) return -EACCES;
  int is_folder = S_ISDIR(lookup.inode->status->st_mode);
  if (folder && !is_folder) return -ENOTDIR;
  if (!folder && is_folder) return -EISDIR;
  if (folder && !is_empty(lookup.inode)) return -ENOTEMPTY;
  error = on_host(folder ? 'r' : 'u', lookup.inode, 0, 0);
  if (error) return error;
  if (is_folder) lookup.folder->status->st_nlink--;
  return remove_entry(&lookup);
}

static word rename_path(int from, const char *old, int to, const char *new, unsigned flags) {
  struct lookup source, target;
  word error = __partita_walk_new(from, old, &source);
  if (error) return error;
  if (!source.inode) return -ENOENT;
  error = __partita_walk_new(to, new, &target);
  if (error) return error;
  if (!source.folder || !target.folder) return -EBUSY;
  if (!__partita_may_access(source.folder, 3) || !__partita_may_access(target.folder, 3)) return -EACCES;
  struct inode *inode = source.inode;
  if (flags & ~1u) return -EINVAL;
  if (target.inode == inode) return 0;
  if (target.inode) {
    if (flags & 1) return -EEXIST;
    int is_folder = S_ISDIR(inode->status->st_mode);
    if (S_ISDIR(target.inode->status->st_mode) != is_folder) return is_folder ? -ENOTDIR : -EISDIR;
    if (is_folder && !is_empty(target.inode)) return -ENOTEMPTY;
  }
  for (struct inode *up = target.folder; S_ISDIR(inode->status->st_mode) && up != __partita_root; up = up->parent)
    if (up == inode) return -EINVAL;
  error = __partita_load(inode); /* its path on the machine changes */
  if (error && S_ISREG(inode->status->st_mode)) return error;
  char *path = inode->host;
  if (target.inode) remove_entry(&target);
  inode->status->st_nlink++;
  remove_entry(&source);
  inode->host = 0;
  put_inode(&target, inode);
  if (__partita_writes_host && path && inode->host) return __partita_host_change('n', path, inode->host, 0, 0, 0);
  if (!__partita_writes_host) inode->host = 0;
  return 0;
}

static word hard_link(int from, const char *old, int to, const char *new, int flags) {
  struct lookup source, target;
  word error = __partita_walk(from, old, flags & AT_SYMLINK_FOLLOW, &source);
  if (!error) error = walk_to_new_name(to, new, &target);
  if (error) return error;
  if (S_ISDIR(source.inode->status->st_mode)) return -EPERM;
  if (__partita_writes_host && source.inode->host) return -EPERM;
  source.inode->status->st_nlink++;
  char *host = source.inode->host;
  put_inode(&target, source.inode);
  source.inode->host = host;
  return 0;
}

static word symbolic_link(const char *text, int from, const char *path) {
  struct lookup lookup;
  word error = walk_to_new_name(from, path, &lookup);
  if (error) return error;
  size_t length = strlen(text);
  if (!length) return -ENOENT;
  if (__partita_writes_host && lookup.folder->host) return -EPERM;
  struct inode *inode = __partita_inode(S_IFLNK | 0777);
  if (__partita_grow(inode, length + 1)) return -ENOSPC;
  memcpy(inode->data, text, length + 1);
  inode->status->st_size = (off_t)length;
  put_inode(&lookup, inode);
  return 0;
}

static word read_link(int from, const char *path, char *to, size_t room) {
  struct lookup lookup;
  word error = __partita_walk(from, path, 0, &lookup);
  if (error) return error;
  if (!S_ISLNK(lookup.inode->status->st_mode) || !room) return -EINVAL;
  error = __partita_load(lookup.inode);
  if (error) return error;
  size_t count = (size_t)lookup.inode->status->st_size;
  if (count > room) count = room;
  memcpy(to, lookup.inode->data, count);
  return (word)count;
}

/* The entry of a folder in its parent. */
static struct entry *entry_in_parent(struct inode *folder) {
  struct entry *entry = folder->parent->entries;
  while (entry && entry->inode != folder) entry = entry->next;
  return entry;
}

static word current_folder(char *to, size_t room) {
  char path[PATH_LENGTH];
  size_t at = sizeof path - 1;
  path[at] = 0;
  for (struct inode *folder = __partita_cwd; folder != __partita_root; folder = folder->parent) {
    struct entry *entry = entry_in_parent(folder);
    if (!entry) return -ENOENT;
    if (entry->length + 1 > at) return -ERANGE;
    at -= entry->length;
    memcpy(path + at, entry->name, entry->length);
    path[--at] = '/';
  }
  if (!path[at]) path[--at] = '/';
  size_t count = sizeof path - at;
  if (count > room) return -ERANGE;
  memcpy(to, path + at, count);
  return (word)count;
}

static word change_folder(struct inode *folder) {
  if (!S_ISDIR(folder->status->st_mode)) return -ENOTDIR;
  if (!__partita_may_access(folder, 1)) return -EACCES;
  __partita_cwd = folder;
  return 0;
}

static unsigned char type_of(const struct entry *entry) {
  if (entry->inode) return (unsigned char)((entry->inode->status->st_mode & S_IFMT) >> 12);
  switch (entry->type_letter) {
  case 'd': return DT_DIR;
  case 'l': return DT_LNK;
  case 'c': return DT_CHR;
  case 'b': return DT_BLK;
  case 'p': return DT_FIFO;
  case 's': return DT_SOCK;
  default: return DT_REG;
  }
}

/* Writes an entry, which is number `at` in its folder; returns its size, or 0 if it does not fit. */
static word put_entry(char *to, size_t room, const struct entry *entry, off_t at) {
  size_t size = (offsetof(struct dirent, d_name) + entry->length + 1 + 7) & ~(size_t)7;
  if (size > room) return 0;
  struct dirent *out = (struct dirent *)to;
  out->d_ino = entry->inode ? entry->inode->status->st_ino : (ino_t)(100000 + at);
  out->d_off = at + 1;
  out->d_reclen = (unsigned short)size;
  out->d_type = type_of(entry);
  memcpy(out->d_name, entry->name, entry->length);
  out->d_name[entry->length] = 0;
  return (word)size;
}

static word list(word fd, char *to, size_t room) {
  struct handle *handle = __partita_handle(fd);
  if (!handle) return -EBADF;
  struct inode *folder = handle->inode;
  if (!S_ISDIR(folder->status->st_mode)) return -ENOTDIR;
  word error = __partita_load(folder);
  if (error) return error;
  word used = 0;
  off_t at = 0;
  struct inode *up = folder->parent ? folder->parent : folder;
  struct entry dots[2] = {{&dots[1], ".", 1, folder, 0}, {folder->entries, "..", 2, up, 0}};
  for (struct entry *entry = dots; entry; entry = entry->next, at++) {
    if (at < handle->offset || (!entry->inode && !entry->type_letter)) continue;
    word size = put_entry(to + used, room - (size_t)used, entry, at);
    if (!size) return used ? used : -EINVAL;
    used += size;
    handle->offset = at + 1;
  }
  return used;
}

word __partita_call_names(word number, word a, word b, word c, word d, word e) {
  struct handle *handle;
  struct lookup lookup;
  word error;
  switch (number) {
  case SYS_mkdir: return make_folder(AT_FDCWD, (char *)a, (mode_t)b);
  case SYS_mkdirat: return make_folder((int)a, (char *)b, (mode_t)c);
  case SYS_rmdir: return remove_name(AT_FDCWD, (char *)a, 1);
  case SYS_unlink: return remove_name(AT_FDCWD, (char *)a, 0);
  case SYS_unlinkat: return remove_name((int)a, (char *)b, (c & AT_REMOVEDIR) != 0);
  case SYS_rename: return rename_path(AT_FDCWD, (char *)a, AT_FDCWD, (char *)b, 0);
  case SYS_renameat: return rename_path((int)a, (char *)b, (int)c, (char *)d, 0);
  case SYS_renameat2: return rename_path((int)a, (char *)b, (int)c, (char *)d, (unsigned)e);
  case SYS_link: return hard_link(AT_FDCWD, (char *)a, AT_FDCWD, (char *)b, 0);
  case SYS_linkat: return hard_link((int)a, (char *)b, (int)c, (char *)d, (int)e);
  case SYS_symlink: return symbolic_link((char *)a, AT_FDCWD, (char *)b);
  case SYS_symlinkat: return symbolic_link((char *)a, (int)b, (char *)c);
  case SYS_readlink: return read_link(AT_FDCWD, (char *)a, (char *)b, (size_t)c);
  case SYS_readlinkat: return read_link((int)a, (char *)b, (char *)c, (size_t)d);
  case SYS_getcwd: return current_folder((char *)a, (size_t)b);
  case SYS_chdir:
    error = __partita_walk(AT_FDCWD, (char *)a, 1, &lookup);
    return error ? error : change_folder(lookup.inode);
  case SYS_fchdir: return (handle = __partita_handle(a)) ? change_folder(handle->inode) : -EBADF;
  case SYS_getdents64: return list(a, (char *)b, (size_t)c);
  case SYS_umask: {
    mode_t old = __partita_umask;
    __partita_umask = (mode_t)a & 0777;
    return (word)old;
  }
  default: return NOT_HANDLED;
  }
}
