/* Variations of the environment (--vary-files): a symbolic file is empty, large or of another kind, a read is short or fails,
   the device of standard output is full, closing fails. Each is decided when the program looks: kind and size at the first call that
   asks for the status or the position of the file before it was read, reads at the first read of a file, the device at the
   first write to standard output, closing at the first call for each descriptor. Paths on which all is usual have no
   inputs for it; the others get a share of the search, and an input that says what varies. A path has one of short
   or failing read, full device and failing close. Replay (`confine.c`, `replay/environment.py`) does the same. */
#include "kernel.h"
#include <sys/syscall.h>

word __partita_choose_locale(void); /* as the next, at the start: 1 if the locale varies, of a program that sets it */
word __partita_vary(word count); /* number of the behaviour: 0, the usual one, or another on a path forked from here */

static unsigned calls_made[FAULTS];
static int is_varied, has_fault, has_written, is_full;
static unsigned long closed_before; /* descriptors whose closing was decided about */

/* Makes an input of the test that has this value. */
static void note(const char *of, const char *what, unsigned value) {
  char name[32];
  unsigned *number = malloc(sizeof *number);
  strcpy(name, of);
  strcat(name, what);
  klee_make_symbolic(number, sizeof *number, name);
  klee_assume(*number == value);
}

static unsigned choose(const char *of, const char *what, unsigned count) {
  unsigned choice = (unsigned)__partita_vary(count);
  if (choice) note(of, what, choice);
  return choice;
}

void __partita_vary_file(struct inode *inode, const char *name) {
  if (!__partita_setting("vary-files")) return;
  is_varied = 1;
  inode->varied_kind = inode->varied_reads = name;
}

/* Between its halves a large file has lines, more than programs read at once. Replay makes the same. */
static const char line[] = "abcdefg\n";
enum { LINE = sizeof line - 1, FILLED = 3 * 4096 };

static void make_large(struct inode *inode) {
  size_t size = (size_t)inode->status->st_size, half = size / 2;
  unsigned char *data = malloc(size + FILLED);
  if (size) memcpy(data, inode->data, half);
  for (size_t i = 0; i < FILLED; i += LINE) memcpy(data + half + i, line, LINE);
  if (size) memcpy(data + half + FILLED, inode->data + half, size - half);
  inode->data = data;
  inode->capacity = size + FILLED;
  inode->status->st_size = (off_t)(size + FILLED);
  inode->status->st_blocks = __partita_blocks(inode->status->st_size);
}

/* The locale is that of bytes, or UTF-8. */
void __partita_vary_locale(char **entries) {
  for (; is_varied && *entries; entries++)
    if (!strcmp(*entries, "LC_ALL=C") && __partita_choose_locale()) {
      *entries = "LC_ALL=C.UTF-8";
      note("", "utf8_locale", 1);
    }
}

void __partita_look(struct inode *inode) {
  enum { USUAL_KIND, EMPTY, OTHER_KIND, LARGE, KINDS_OF_FILES, LARGE_PIPE = KINDS_OF_FILES, KINDS_OF_STDIN };
  const char *name = inode->varied_kind;
  if (!name) return;
  inode->varied_kind = 0;
  struct stat *s = inode->status;
  int is_stdin = !strcmp(name, "stdin");
  unsigned kind = choose(name, "_kind", is_stdin ? KINDS_OF_STDIN : KINDS_OF_FILES);
  if (kind == LARGE || kind == LARGE_PIPE) make_large(inode);
  switch (kind) {
  case EMPTY:
    s->st_size = 0;
    s->st_blocks = 0;
    break;
  case OTHER_KIND:
  case LARGE_PIPE:
    inode->varied_reads = 0;
    if (is_stdin) { /* a pipe, whose other end is closed and which has all bytes */
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

/* The kind of a call that can be at fault, as `confine.c` counts them. */
static enum fault fault_of(word number) {
  switch (number) {
  case SYS_read:
  case SYS_readv:
  case SYS_pread64: return READ_FAULT;
  case SYS_write:
  case SYS_writev:
  case SYS_pwrite64: return WRITE_FAULT;
  case SYS_close: return CLOSE_FAULT;
  default: return FAULTS;
  }
}

word __partita_vary_call(word number, word fd) {
  enum fault fault = fault_of(number);
  if (fault == FAULTS) return 0;
  calls_made[fault]++;
  if (fault == WRITE_FAULT && fd == 1 && is_full) return -ENOSPC;
  if (!is_varied || has_fault || !__partita_handle(fd)) return 0;
  if (fault == WRITE_FAULT) {
    if (fd != 1 || has_written) return 0;
    has_written = 1;
  } else if (fault == CLOSE_FAULT) {
    if (closed_before >> fd & 1) return 0;
    closed_before |= 1ul << fd;
  } else return 0; /* `__partita_vary_read` */
  if (!__partita_vary(2)) return 0;
  has_fault = 1;
  if (fault == CLOSE_FAULT) {
    note("", "close_number", calls_made[CLOSE_FAULT]);
    return -EIO;
  }
  is_full = 1;
  note("", "stdout_full", 1);
  return -ENOSPC;
}

size_t __partita_vary_read(word fd, size_t count) {
  enum { USUAL_READ, SHORT, FAILING, READS };
  struct handle *handle = __partita_handle(fd);
  if (!handle || !handle->inode->varied_reads) return count;
  struct inode *inode = handle->inode;
  const char *name = inode->varied_reads;
  inode->varied_kind = inode->varied_reads = 0;
  if (has_fault || count < 2) return count;
  unsigned choice = choose(name, "_read", READS);
  if (choice == USUAL_READ) return count;
  has_fault = 1;
  note("", "read_number", calls_made[READ_FAULT]);
  return choice == SHORT ? 1 : READ_FAILS;
}
