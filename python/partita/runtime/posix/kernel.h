/* The kernel model: the system calls, in C code that is explored together with the program. Its state is in the
   program's memory, so that every path has its own files, descriptors and clock.

   Folders, files and links are inodes; folders have entries that name them. Files of the machine are looked up when
   first needed and copied: a path changes only its own copy, never a file of the machine (unless --write-host). */
#ifndef PARTITA_KERNEL_H
#define PARTITA_KERNEL_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <klee/klee.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Wide enough for a pointer and for an offset in a file. */
#if __SIZEOF_POINTER__ == 8
typedef long word;
#else
typedef long long word;
#endif

/* Functions of the executor (`exec/run/models/host.rs`). */
__attribute__((noreturn)) void __partita_abort(void);
word __partita_setting(const char *name);
enum { TEXT_ARGUMENT, ONE_ARGUMENT, SEVERAL_ARGUMENTS };
struct symbolic_argument {
  word min, max, bytes;
};
int __partita_symbolic_argument(word index, struct symbolic_argument *argument); /* its kind; 0 is the program's name */
word __partita_symbolic_variable(word index, char *name, size_t room); /* its size; -1: there are no more */
word __partita_room(const void *address); /* bytes from here to the end of the object; -1 without one */
void __partita_arguments(word count, char **arguments);
void *__partita_stack_object(size_t size); /* not on the heap, for the arguments */
/* The kernel's own memory, which is no allocation of the program: it does not fail with --malloc-fails. */
void *__partita_malloc(size_t size);
void *__partita_calloc(size_t count, size_t size);
#define malloc __partita_malloc
#define calloc __partita_calloc
void __partita_not_modelled(const char *what);
void __partita_incomplete(const char *why); /* one of several behaviours is explored */
int __partita_has_threads(void); /* has there been a second one? */
int __partita_thread_number(void);
void __partita_exit_thread(void);                            /* returns in the last thread */
word __partita_futex_wait(int *at, int value, int is_timed); /* if `*at` is `value`: waits until it is woken */
word __partita_futex_wake(int *at, int count);               /* the number of threads that it woke */
void __partita_output(const void *bytes, size_t count);
void __partita_check_output(const void *bytes, size_t count, int is_bug); /* of bytes that were never written */
void __partita_panic_output(const char *bytes, size_t count); /* what a Rust program writes to standard error */
word __partita_stdin(void *to, size_t room);
word __partita_host_status(const char *path, int follow, word fields[13]);
word __partita_host_read(const char *path, size_t offset, void *to, size_t room);
word __partita_host_link(const char *path, void *to, size_t room);
/* w: write `count` bytes of `other` at `offset`; t: truncate to `offset`; d: make a folder; u: remove a file; r: remove
   a folder; n: rename to `other`; m: set the mode. */
word __partita_host_change(char what, const char *path, const void *other, size_t count, size_t offset, int mode);

/* ACCESS_MASK selects the access mode of open flags. musl's O_ACCMODE also has O_PATH. */
enum { ACCESS_MASK = 3, DESCRIPTORS = 64, NAME_LENGTH = 255, PATH_LENGTH = 4096, LINKS_FOLLOWED = 40 };

enum device { DEV_NONE, DEV_NULL, DEV_ZERO, DEV_FULL, DEV_RANDOM, DEV_STDOUT, DEV_STDERR, DEV_PIPE };

struct inode {
  struct stat *status; /* a separate object: symbolic for symbolic files */
  unsigned char *data; /* contents of a file, a link or a pipe */
  size_t capacity;
  struct entry *entries; /* entries of a folder */
  struct inode *parent;  /* parent of a folder */
  char *host;            /* path on the machine, or null */
  const char *varied_kind;  /* name of a symbolic file whose kind and size are not decided yet, or null */
  const char *varied_reads; /* the same of its reads */
  int loaded;            /* the contents have been read from the machine */
  enum device device;
};

struct entry {
  struct entry *next;
  char *name;
  size_t length;
  struct inode *inode; /* null if deleted on this path, or not looked up yet (`type_letter` is set) */
  char type_letter;
};

/* An open file description; duplicated descriptors share it. */
struct handle {
  struct inode *inode;
  off_t offset;
  int flags;
  int uses;
};

/* Result of looking up a path. */
struct lookup {
  struct inode *folder; /* the folder of the last component; null for a path of slashes and dots only */
  const char *name;     /* the last component */
  word length;          /* its length; -1: up to the zero byte, without a slash before */
  int trailing_slash;   /* it ends in a slash, so it must be a folder */
  struct entry *entry;
  struct inode *inode; /* null if it does not exist */
};

extern struct inode *__partita_root, *__partita_cwd, *__partita_start;
extern word __partita_uid, __partita_gid;
extern int __partita_writes_host;
extern mode_t __partita_umask;

/* inodes.c */
struct inode *__partita_inode(mode_t mode);
struct inode *__partita_host_inode(const char *path, const word fields[13]);
char *__partita_join(const char *folder, const char *name, size_t length);
word __partita_load(struct inode *inode);
int __partita_grow(struct inode *inode, size_t size);
struct entry *__partita_add(struct inode *folder, const char *name, size_t length, struct inode *inode);
struct inode *__partita_child(struct inode *folder, const char *name, word length, struct entry **found);
int __partita_is_symbolic(const char *name, word length);
int __partita_may_access(const struct inode *inode, int want);
blkcnt_t __partita_blocks(off_t size);
void __partita_touch(struct inode *inode);

/* vary.c */
#define READ_FAILS ((size_t)-1)
enum fault { READ_FAULT, WRITE_FAULT, CLOSE_FAULT, FAULTS };
void __partita_vary_file(struct inode *inode, const char *name);
void __partita_vary_locale(char **entries);        /* of the environment */
void __partita_look(struct inode *inode);          /* the program looks at kind or size */
word __partita_vary_call(word number, word fd);    /* counts the call; its error, or 0 */
size_t __partita_vary_read(word fd, size_t count); /* the bytes that are read, or READ_FAILS */

/* walk.c */
word __partita_walk(int from, const char *path, int follow, struct lookup *to);
word __partita_walk_new(int from, const char *path, struct lookup *to);
int __partita_is_protected(const char *path, const struct lookup *lookup);

/* descriptors.c */
struct handle *__partita_handle(word fd);
word __partita_new_descriptor(struct handle *handle, word least, int close_on_exec);
struct handle *__partita_new_handle(struct inode *inode, int flags);
void __partita_allow_failures(word count);
word __partita_failure(word number);

/* Families of system calls. Each returns the result, or NOT_HANDLED for a call of another family. */
#define NOT_HANDLED (-100000)
word __partita_call_files(word number, word a, word b, word c, word d, word e);
word __partita_call_names(word number, word a, word b, word c, word d, word e);
word __partita_call_status(word number, word a, word b, word c, word d, word e);
word __partita_call_process(word number, word a, word b, word c, word d, word e, word f);
word __partita_call_time(word number, word a, word b, word c, word d);
word __partita_call_signals(word number, word a, word b, word c, word d);

#endif
