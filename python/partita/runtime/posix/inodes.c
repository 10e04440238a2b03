/* Inodes and the entries of folders. Files of the machine become inodes when first needed. */
#include "kernel.h"

struct inode *__partita_root, *__partita_cwd, *__partita_start;
mode_t __partita_umask = 022;

static ino_t last_inode = 1000;
/* The time in seconds since 1970, from the clock of `time.c`. */
extern word __partita_now(void);

struct inode *__partita_inode(mode_t mode) {
  struct inode *inode = calloc(1, sizeof *inode);
  struct stat *status = calloc(1, sizeof *status);
  status->st_dev = 1;
  status->st_ino = ++last_inode;
  status->st_mode = mode;
  status->st_nlink = S_ISDIR(mode) ? 2 : 1;
  status->st_uid = (uid_t)__partita_uid;
  status->st_gid = (gid_t)__partita_gid;
  status->st_blksize = 4096;
  status->st_atime = status->st_mtime = status->st_ctime = __partita_now();
  inode->status = status;
  inode->loaded = 1;
  return inode;
}

struct inode *__partita_host_inode(const char *path, const word fields[13]) {
  struct inode *inode = __partita_inode((mode_t)fields[3]);
  struct stat *s = inode->status;
  s->st_dev = (dev_t)fields[0];
  s->st_ino = (ino_t)fields[1];
  s->st_nlink = (nlink_t)fields[2];
  s->st_uid = (uid_t)fields[4];
  s->st_gid = (gid_t)fields[5];
  s->st_rdev = (dev_t)fields[6];
  s->st_size = fields[7];
  s->st_blksize = fields[8];
  s->st_blocks = fields[9];
  s->st_atime = fields[10];
  s->st_mtime = fields[11];
  s->st_ctime = fields[12];
  inode->host = __partita_join("", path, strlen(path));
  inode->loaded = !S_ISREG(s->st_mode) && !S_ISDIR(s->st_mode) && !S_ISLNK(s->st_mode);
  static const struct {
    const char *path;
    enum device device;
  } devices[] = {{"/dev/null", DEV_NULL}, {"/dev/zero", DEV_ZERO}, {"/dev/full", DEV_FULL}, {"/dev/random", DEV_RANDOM},
                 {"/dev/urandom", DEV_RANDOM}};
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    if (!strcmp(path, devices[i].path)) inode->device = devices[i].device;
  return inode;
}

/* `folder/name`, with one slash; no slash if `folder` is empty. */
char *__partita_join(const char *folder, const char *name, size_t length) {
  size_t before = strlen(folder);
  char *path = malloc(before + length + 2);
  memcpy(path, folder, before);
  if (before && path[before - 1] != '/') path[before++] = '/';
  memcpy(path + before, name, length);
  path[before + length] = 0;
  return path;
}

static void add_listed(struct inode *folder, const char *name, char type_letter) {
  size_t length = strlen(name);
  for (struct entry *e = folder->entries; e; e = e->next)
    if (e->length == length && !memcmp(e->name, name, length)) return;
  __partita_add(folder, name, length, 0)->type_letter = type_letter;
}

/* Reads from the machine: a file's bytes, a link's target, a folder's entries. */
word __partita_load(struct inode *inode) {
  if (inode->loaded) return 0;
  mode_t type = inode->status->st_mode & S_IFMT;
  size_t room = type == S_IFDIR ? 1 << 16 : (size_t)inode->status->st_size + 1;
  if (type == S_IFLNK) room = PATH_LENGTH;
  unsigned char *data;
  word count;
  for (;;) {
    data = malloc(room);
    count = type == S_IFLNK ? __partita_host_link(inode->host, data, room)
                            : __partita_host_read(inode->host, 0, data, room);
    if (count < (word)room) break;
    free(data);
    room *= 4;
  }
  if (count < 0) {
    free(data);
    return count;
  }
  inode->loaded = 1;
  if (type == S_IFDIR) {
    for (word at = 0; at < count; at += (word)strlen((char *)data + at) + 1)
      add_listed(inode, (char *)data + at + 1, (char)data[at]);
    free(data);
    return 0;
  }
  inode->data = data;
  inode->capacity = room;
  inode->status->st_size = count;
  return 0;
}

/* Grows the capacity to `size` bytes; new bytes are zero. */
int __partita_grow(struct inode *inode, size_t size) {
  if (size <= inode->capacity) return 0;
  size_t room = inode->capacity * 2 > size ? inode->capacity * 2 : size;
  if (room < 64) room = 64;
  unsigned char *data = calloc(1, room);
  if (!data) return -ENOSPC;
  if (inode->data) memcpy(data, inode->data, (size_t)inode->status->st_size);
  free(inode->data);
  inode->data = data;
  inode->capacity = room;
  return 0;
}

struct entry *__partita_add(struct inode *folder, const char *name, size_t length, struct inode *inode) {
  struct entry *entry = calloc(1, sizeof *entry);
  entry->name = __partita_join("", name, length);
  entry->length = length;
  entry->inode = inode;
  struct entry **last = &folder->entries;
  while (*last) last = &(*last)->next;
  *last = entry;
  if (inode && S_ISDIR(inode->status->st_mode)) inode->parent = folder;
  return entry;
}

/* Whether this is the entry's name. At most one fork for any bytes. */
static int is_named(const struct entry *entry, const char *name, word length) {
  size_t n = entry->length;
  unsigned same = 1;
  if (length >= 0) {
    if ((size_t)length != n) return 0;
  } else {
    if ((size_t)__partita_room(name) <= n) return 0;
    same = name[n] == 0;
  }
  for (size_t i = 0; i < n; i++) same &= name[i] == entry->name[i];
  return same != 0;
}

/* Whether a name of this length (-1: up to its zero byte) has a symbolic byte. */
int __partita_is_symbolic(const char *name, word length) {
  for (word i = 0; length < 0 || i < length; i++) {
    if (klee_is_symbolic((unsigned char)name[i])) return 1;
    if (!name[i]) return 0;
  }
  return 0;
}

/* The inode with this name in a folder, or null. `found` is set to the entry, also if its file was deleted. A symbolic
   name can only match entries that are already known on this path; only concrete names are looked up on the machine. */
struct inode *__partita_child(struct inode *folder, const char *name, word length, struct entry **found) {
  *found = 0;
  struct entry *entry = folder->entries;
  while (entry && !is_named(entry, name, length)) entry = entry->next;
  if (entry) {
    *found = entry;
    if (entry->inode || !entry->type_letter) return entry->inode;
  }
  if (!folder->host || (!entry && __partita_is_symbolic(name, length))) return 0;
  if (!entry && length < 0) length = (word)strlen(name);
  char *path = __partita_join(folder->host, entry ? entry->name : name, entry ? entry->length : (size_t)length);
  word fields[13];
  if (__partita_host_status(path, 0, fields) < 0) {
    free(path);
    return 0;
  }
  struct inode *inode = __partita_host_inode(path, fields);
  free(path);
  if (!entry) entry = __partita_add(folder, name, (size_t)length, 0);
  if (S_ISDIR(inode->status->st_mode)) inode->parent = folder;
  entry->inode = inode;
  *found = entry;
  return inode;
}

/* Whether the user has these permissions (4 read, 2 write, 1 execute). Root has all, but needs one execute bit. */
int __partita_may_access(const struct inode *inode, int want) {
  const struct stat *s = inode->status;
  if (__partita_uid == 0) return !(want & 1) || S_ISDIR(s->st_mode) || (s->st_mode & 0111);
  int shift = s->st_uid == (uid_t)__partita_uid ? 6 : s->st_gid == (gid_t)__partita_gid ? 3 : 0;
  return ((s->st_mode >> shift) & (mode_t)want) == (mode_t)want;
}

/* Number of 512-byte units on a file system with blocks of 4096 bytes. */
blkcnt_t __partita_blocks(off_t size) { return (size + 4095) / 4096 * 8; }

/* Updates the times and blocks after a change of the contents. */
void __partita_touch(struct inode *inode) {
  inode->status->st_mtime = inode->status->st_ctime = __partita_now();
  inode->status->st_blocks = __partita_blocks(inode->status->st_size);
}
