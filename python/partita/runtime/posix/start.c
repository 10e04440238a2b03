/* Before any other code: the arguments (with the symbolic ones in their places), the files, the descriptors 0, 1 and 2.
   Flags, names and order of symbolic objects are KLEE's, so that its tools understand our tests. */
#include "kernel.h"
#include <unistd.h>

extern char **__environ, *__progname, *__progname_full;

enum { MOST_ARGUMENTS = 1024 };

struct asked {
  long files, file_size, input, output, failures;
};

static int named_arguments;
static char *list[MOST_ARGUMENTS];
static long listed;

static void wrong(const char *what) { klee_report_error(__FILE__, __LINE__, what, "user.err"); }

static void append(char *argument) {
  if (listed == MOST_ARGUMENTS - 1) wrong("too many arguments");
  list[listed++] = argument;
}

static void append_symbolic(long length) {
  char name[] = "arg00";
  if (named_arguments == 100) wrong("more than 100 symbolic arguments");
  name[3] = (char)('0' + named_arguments / 10);
  name[4] = (char)('0' + named_arguments % 10);
  named_arguments++;
  char *argument = malloc((size_t)length + 1);
  klee_make_symbolic(argument, (size_t)length + 1, name);
  argument[length] = 0;
  append(argument);
}

static long number(const char *text) {
  long value = 0;
  for (; *text; text++) {
    if (*text < '0' || *text > '9' || value > 1 << 24) wrong("expected a number after a --sym flag");
    value = value * 10 + (*text - '0');
  }
  return value;
}

/* The flag's numbers, if the argument is this flag. */
static int is_flag(char ***at, const char *name, int count, long *numbers) {
  const char *word = (*at)[0];
  if (word[0] != '-') return 0;
  if (strcmp(word + 1, name) && (word[1] != '-' || strcmp(word + 2, name))) return 0;
  for (int i = 0; i < count; i++) {
    if (!(*at)[i + 1]) wrong("expected more numbers after a --sym flag");
    numbers[i] = number((*at)[i + 1]);
  }
  *at += count;
  return 1;
}

static void read_arguments(char **words, struct asked *asked) {
  append(*words++);
  for (; *words; words++) {
    long n[3];
    if (is_flag(&words, "sym-arg", 1, n)) append_symbolic(n[0]);
    else if (is_flag(&words, "sym-args", 3, n)) {
      int count = klee_range((int)n[0], (int)n[1] + 1, "n_args");
      for (int i = 0; i < count; i++) append_symbolic(n[2]);
    } else if (is_flag(&words, "sym-files", 2, n)) asked->files = n[0], asked->file_size = n[1];
    else if (is_flag(&words, "sym-stdin", 1, n)) asked->input = n[0];
    else if (is_flag(&words, "sym-stdout", 0, n)) asked->output = 1;
    else if (is_flag(&words, "max-fail", 1, n)) asked->failures = n[0];
    else append(*words);
  }
}

/* A regular file whose bytes, permissions and time of change are symbolic. */
static struct inode *symbolic_file(const char *name, size_t size) {
  struct inode *inode = __partita_inode(S_IFREG | 0644);
  char text[32];
  if (size) {
    inode->data = malloc(size);
    klee_make_symbolic(inode->data, size, name);
  }
  inode->room = size;
  strcpy(text, name);
  strcat(text, "-stat");
  struct stat *s = malloc(sizeof *s);
  klee_make_symbolic(s, sizeof *s, text);
  klee_assume((s->st_mode & ~0777u) == S_IFREG);
  klee_assume((unsigned long)s->st_mtime < 1UL << 32);
  mode_t mode = s->st_mode;
  time_t changed = s->st_mtime;
  *s = *inode->status;
  s->st_mode = mode;
  s->st_mtime = changed;
  s->st_size = (off_t)size;
  s->st_blocks = __partita_blocks(s->st_size);
  free(inode->status);
  inode->status = s;
  return inode;
}

static void open_at(struct inode *inode, int flags) {
  __partita_new_descriptor(__partita_new_handle(inode, flags), 0, 0);
}

static struct inode *output(enum device device) {
  struct inode *inode = __partita_inode(S_IFIFO | 0600);
  inode->device = device;
  return inode;
}

static struct inode *given_input(void) {
  struct inode *inode = __partita_inode(S_IFREG | 0644);
  size_t size = (size_t)__partita_stdin(0, 0);
  __partita_grow(inode, size);
  if (size) __partita_stdin(inode->data, size);
  inode->status->st_size = (off_t)size;
  return inode;
}

static void make_files(const struct asked *asked) {
  char name[] = "A-data";
  for (long i = 0; i < asked->files; i++, name[0]++)
    __partita_add(__partita_cwd, name, 1, symbolic_file(name, (size_t)asked->file_size));
  open_at(asked->input ? symbolic_file("stdin", (size_t)asked->input) : given_input(), O_RDONLY);
  open_at(output(OUTPUT), O_WRONLY);
  open_at(output(ERRORS), O_WRONLY);
  __partita_allow_failures(asked->failures);
  if (asked->files || asked->input || asked->output) {
    int *version = malloc(sizeof *version);
    klee_make_symbolic(version, sizeof *version, "model_version");
    klee_assume(*version == 1);
  }
}

/* The root and the current folder, as the machine has them. */
static void find_folders(void) {
  long fields[13];
  char path[PATH_LENGTH];
  struct place place;
  if (__partita_host_status("/", 1, fields) < 0) wrong("the machine has no root folder");
  __partita_root = __partita_cwd = __partita_start = __partita_host_inode("/", fields);
  long length = __partita_host_link("/proc/self/cwd", path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  if (__partita_walk(AT_FDCWD, path, 1, &place) == 0) __partita_start = __partita_cwd = place.inode;
}

__attribute__((constructor(0))) static void start(int count, char **arguments, char **environment) {
  struct asked asked = {0};
  __partita_uid = __partita_setting("uid");
  __partita_gid = __partita_setting("gid");
  __partita_writes_host = (int)__partita_setting("write-host");
  find_folders();
  read_arguments(arguments, &asked);
  make_files(&asked);
  long variables = 0;
  while (environment[variables]) variables++;
  char **all = malloc(sizeof *all * (size_t)(listed + variables + 2));
  memcpy(all, list, sizeof *all * (size_t)listed);
  all[listed] = 0;
  memcpy(all + listed + 1, environment, sizeof *all * (size_t)(variables + 1));
  __environ = all + listed + 1;
  __progname = __progname_full = all[0];
  for (char *p = all[0]; *p; p++)
    if (*p == '/') __progname = p + 1;
  __partita_arguments(listed, all);
}
