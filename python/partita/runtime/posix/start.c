/* Runs before any other code: makes the arguments (including symbolic ones), the files, and descriptors 0, 1 and 2.
   Flags, names and order of symbolic objects are KLEE's, so that its tools can read our tests. */
#include "kernel.h"
#include <unistd.h>

extern char **__environ, *__progname, *__progname_full;

enum { MAX_ARGUMENTS = 1024 };

struct options {
  long files, file_size, input, output, failures;
};

static int named_arguments;
static char *list[MAX_ARGUMENTS];
static long argument_count;

static void usage_error(const char *what) { klee_report_error(__FILE__, __LINE__, what, "user.err"); }

static void append(char *argument) {
  if (argument_count == MAX_ARGUMENTS - 1) usage_error("too many arguments");
  list[argument_count++] = argument;
}

static void append_symbolic(long length) {
  char name[] = "arg00";
  if (named_arguments == 100) usage_error("more than 100 symbolic arguments");
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
    if (*text < '0' || *text > '9' || value > 1 << 24) usage_error("expected a number after a --sym flag");
    value = value * 10 + (*text - '0');
  }
  return value;
}

/* Reads the numbers after the flag, if the argument is this flag. */
static int is_flag(char ***at, const char *name, int count, long *numbers) {
  const char *word = (*at)[0];
  if (word[0] != '-') return 0;
  if (strcmp(word + 1, name) && (word[1] != '-' || strcmp(word + 2, name))) return 0;
  for (int i = 0; i < count; i++) {
    if (!(*at)[i + 1]) usage_error("expected more numbers after a --sym flag");
    numbers[i] = number((*at)[i + 1]);
  }
  *at += count;
  return 1;
}

static void read_arguments(char **words, struct options *options) {
  append(*words++);
  for (; *words; words++) {
    long n[3];
    if (is_flag(&words, "sym-arg", 1, n)) append_symbolic(n[0]);
    else if (is_flag(&words, "sym-args", 3, n)) {
      int count = klee_range((int)n[0], (int)n[1] + 1, "n_args");
      for (int i = 0; i < count; i++) append_symbolic(n[2]);
    } else if (is_flag(&words, "sym-files", 2, n)) options->files = n[0], options->file_size = n[1];
    else if (is_flag(&words, "sym-stdin", 1, n)) options->input = n[0];
    else if (is_flag(&words, "sym-stdout", 0, n)) options->output = 1;
    else if (is_flag(&words, "max-fail", 1, n)) options->failures = n[0];
    else append(*words);
  }
}

/* A regular file with symbolic bytes, permissions and modification time. */
static struct inode *symbolic_file(const char *name, size_t size) {
  struct inode *inode = __partita_inode(S_IFREG | 0644);
  char text[32];
  if (size) {
    inode->data = malloc(size);
    klee_make_symbolic(inode->data, size, name);
  }
  inode->capacity = size;
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

static void make_files(const struct options *options) {
  char name[] = "A-data";
  for (long i = 0; i < options->files; i++, name[0]++)
    __partita_add(__partita_cwd, name, 1, symbolic_file(name, (size_t)options->file_size));
  open_at(options->input ? symbolic_file("stdin", (size_t)options->input) : given_input(), O_RDONLY);
  open_at(output(DEV_STDOUT), O_WRONLY);
  open_at(output(DEV_STDERR), O_WRONLY);
  __partita_allow_failures(options->failures);
  if (options->files || options->input || options->output) {
    int *version = malloc(sizeof *version);
    klee_make_symbolic(version, sizeof *version, "model_version");
    klee_assume(*version == 1);
  }
}

/* Finds the root and the current folder of the machine. */
static void find_folders(void) {
  long fields[13];
  char path[PATH_LENGTH];
  struct lookup lookup;
  if (__partita_host_status("/", 1, fields) < 0) usage_error("the machine has no root folder");
  __partita_root = __partita_cwd = __partita_start = __partita_host_inode("/", fields);
  long length = __partita_host_link("/proc/self/cwd", path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  if (__partita_walk(AT_FDCWD, path, 1, &lookup) == 0) __partita_start = __partita_cwd = lookup.inode;
}

__attribute__((constructor(0))) static void start(int count, char **arguments, char **environment) {
  struct options options = {0};
  __partita_uid = __partita_setting("uid");
  __partita_gid = __partita_setting("gid");
  __partita_writes_host = (int)__partita_setting("write-host");
  find_folders();
  read_arguments(arguments, &options);
  make_files(&options);
  long variables = 0;
  while (environment[variables]) variables++;
  char **all = malloc(sizeof *all * (size_t)(argument_count + variables + 2));
  memcpy(all, list, sizeof *all * (size_t)argument_count);
  all[argument_count] = 0;
  memcpy(all + argument_count + 1, environment, sizeof *all * (size_t)(variables + 1));
  __environ = all + argument_count + 1;
  __progname = __progname_full = all[0];
  for (char *p = all[0]; *p; p++)
    if (*p == '/') __progname = p + 1;
  __partita_arguments(argument_count, all);
}
