/* Looks up paths, component by component. A symbolic path without a slash is one component whose length stays symbolic;
   only a path that can have slashes is split byte by byte. */
#include "kernel.h"

static int has_slash(const char *path) {
  word room = __partita_room(path);
  unsigned before_end = 1, found = 0;
  for (word i = 0; i < room; i++) {
    before_end &= path[i] != 0;
    found |= before_end & (path[i] == '/');
  }
  return found != 0;
}

/* Whether the component is `.` (dots = 1) or `..` (dots = 2). */
static int is_dots(const char *name, word length, int dots) {
  if (length >= 0 && length != dots) return 0;
  if (length < 0 && __partita_room(name) <= dots) return 0;
  unsigned same = length >= 0 || name[dots] == 0;
  for (int i = 0; i < dots; i++) same &= name[i] == '.';
  return same != 0;
}

static struct inode *parent_of(struct inode *folder) { return folder->parent ? folder->parent : folder; }

/* The folder around the one where the program started, for symbolic names: in a replay there is nothing else in it. */
static struct inode *surroundings;

static struct inode *surround(void) {
  if (surroundings) return surroundings;
  struct inode *outside = __partita_start->parent;
  surroundings = __partita_inode(S_IFDIR | 0755);
  surroundings->status->st_nlink = 3;
  surroundings->status->st_size = 4096;
  surroundings->status->st_blocks = 8;
  __partita_add(surroundings, "work", 4, __partita_start);
  __partita_start->parent = outside;
  surroundings->parent = outside;
  return surroundings;
}

static word walk_from(struct inode *start, const char *path, int follow, int depth, struct lookup *to);

/* Looks up one component. */
static word step(struct inode *folder, const char *name, word length, int follow, int depth, struct lookup *to) {
  to->folder = folder;
  to->name = name;
  to->length = length;
  to->entry = 0;
  if (!S_ISDIR(folder->status->st_mode)) return -ENOTDIR;
  if (!__partita_may_access(folder, 1)) return -EACCES;
  if (length > NAME_LENGTH) return -ENAMETOOLONG;
  if (is_dots(name, length, 1) || is_dots(name, length, 2)) {
    int leaves = folder == __partita_start && __partita_is_symbolic(name, length);
    to->inode = is_dots(name, length, 1) ? folder : leaves ? surround() : parent_of(folder);
    to->folder = 0;
    return 0;
  }
  to->inode = __partita_child(folder, name, length, &to->entry);
  if (!to->inode || !S_ISLNK(to->inode->status->st_mode) || !follow) return 0;
  if (depth == LINKS_FOLLOWED) return -ELOOP;
  word error = __partita_load(to->inode);
  if (error) return error;
  char *target = __partita_join("", (char *)to->inode->data, (size_t)to->inode->status->st_size);
  error = walk_from(folder, target, 1, depth + 1, to);
  return error;
}

static word walk_from(struct inode *start, const char *path, int follow, int depth, struct lookup *to) {
  struct inode *folder = start;
  to->trailing_slash = 0;
  if (*path == 0) return -ENOENT;
  if (__partita_is_symbolic(path, -1) && !has_slash(path)) return step(folder, path, -1, follow, depth, to);
  word all = 0;
  if (*path == '/') folder = __partita_root;
  to->folder = 0;
  to->name = "";
  to->length = 0;
  to->entry = 0;
  to->inode = folder;
  for (;;) {
    while (*path == '/') path++, all++;
    if (*path == 0) return 0;
    word length = 0;
    while (path[length] != 0 && path[length] != '/') length++;
    all += length;
    if (all >= PATH_LENGTH) return -ENAMETOOLONG;
    const char *rest = path + length;
    to->trailing_slash = *rest == '/';
    while (*rest == '/') rest++, all++;
    int last = *rest == 0;
    word error = step(folder, path, length, follow || !last || to->trailing_slash, depth, to);
    if (error) return error;
    if (last) {
      to->trailing_slash = path[length] == '/';
      return to->inode && to->trailing_slash && !S_ISDIR(to->inode->status->st_mode) ? -ENOTDIR : 0;
    }
    if (!to->inode) return -ENOENT;
    folder = to->inode;
    path = rest;
  }
}

static word start_of(int from, const char *path, struct inode **start) {
  *start = __partita_cwd;
  if (from == AT_FDCWD || *path == '/') return 0;
  struct handle *handle = __partita_handle(from);
  if (!handle) return -EBADF;
  if (!S_ISDIR(handle->inode->status->st_mode)) return -ENOTDIR;
  *start = handle->inode;
  return 0;
}

/* Looks up a path that must exist. */
word __partita_walk(int from, const char *path, int follow, struct lookup *to) {
  word error = __partita_walk_new(from, path, to);
  if (!error && to->inode && follow && S_ISLNK(to->inode->status->st_mode)) {
    struct inode *start;
    error = start_of(from, path, &start);
    if (!error) error = walk_from(start, path, 1, 0, to);
  }
  return error ? error : to->inode ? 0 : -ENOENT;
}

/* Looks up a path that may not exist; a link at its end is not followed. */
word __partita_walk_new(int from, const char *path, struct lookup *to) {
  struct inode *start;
  word error = start_of(from, path, &start);
  return error ? error : walk_from(start, path, 0, 0, to);
}

/* Whether a symbolic path cannot change files here. Symbolic names can change files only below the folder where the
   program started, and in its parent: replay confines tests in the same way. */
int __partita_is_protected(const char *path, const struct lookup *lookup) {
  if (!__partita_is_symbolic(path, -1)) return 0;
  struct inode *folder = lookup->folder ? lookup->folder : lookup->inode;
  if (folder == __partita_start->parent || (surroundings && folder == surroundings)) return 0;
  while (folder != __partita_start && folder->parent && folder->parent != folder) folder = folder->parent;
  return folder != __partita_start;
}
