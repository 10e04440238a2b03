/* Variations of the environment (--vary-files): a symbolic file is empty or of another kind, a read is short or fails.
   Each is an input of the test, decided when the program looks: kind and size at the first call that asks for the
   status or the position of the file before it was read, reads at the first read of a file. 0 is the usual behaviour;
   paths with another one get a share of the search. Replay (`confine.c`, `replay/environment.py`) does the same. */
#include "kernel.h"

void __partita_rare(void);

static unsigned reads_made;
static int has_read_fault;

static unsigned *new_number(const char *of, const char *what) {
  char name[32];
  unsigned *number = malloc(sizeof *number);
  strcpy(name, of);
  strcat(name, what);
  klee_make_symbolic(number, sizeof *number, name);
  return number;
}

static unsigned choose(const char *of, const char *what, unsigned count) {
  unsigned *choice = new_number(of, what);
  klee_assume(*choice < count);
  for (unsigned i = 1; i < count; i++)
    if (*choice == i) {
      __partita_rare();
      return i;
    }
  return 0;
}

void __partita_vary(struct inode *inode, const char *name) {
  if (__partita_setting("vary-files")) inode->varied_kind = inode->varied_reads = name;
}

void __partita_look(struct inode *inode) {
  enum { USUAL_KIND, EMPTY, OTHER_KIND, KINDS };
  const char *name = inode->varied_kind;
  if (!name) return;
  inode->varied_kind = 0;
  struct stat *s = inode->status;
  switch (choose(name, "_kind", KINDS)) {
  case EMPTY:
    s->st_size = 0;
    s->st_blocks = 0;
    break;
  case OTHER_KIND:
    inode->varied_reads = 0;
    if (!strcmp(name, "stdin")) { /* a pipe, whose other end is closed */
      s->st_mode = S_IFIFO | 0600;
      s->st_nlink = 0;
      inode->device = DEV_PIPE;
    } else { /* an empty folder */
      s->st_mode = S_IFDIR | (s->st_mode & 0777);
      s->st_nlink = 2;
      s->st_size = 4096;
      s->st_blocks = 8;
      inode->parent = __partita_start;
    }
    break;
  }
}

void __partita_count_read(void) { reads_made++; }

size_t __partita_vary_read(word fd, size_t count) {
  enum { USUAL_READ, SHORT, FAILING, READS };
  struct handle *handle = __partita_handle(fd);
  if (!handle || !handle->inode->varied_reads) return count;
  struct inode *inode = handle->inode;
  const char *name = inode->varied_reads;
  inode->varied_kind = inode->varied_reads = 0;
  if (has_read_fault || count < 2) return count;
  unsigned choice = choose(name, "_read", READS);
  if (choice == USUAL_READ) return count;
  has_read_fault = 1;
  unsigned *number = new_number("", "read_number");
  klee_assume(*number == reads_made);
  return choice == SHORT ? 1 : READ_FAILS;
}
