/* Runs before any other code: makes the arguments (including symbolic ones), the files, and descriptors 0, 1 and 2.
   Names, sizes and order of symbolic objects are those of KLEE 3, whose klee-replay reads them in this order. */
#include "kernel.h"
#include <unistd.h>

extern char **__environ, *__progname, *__progname_full;

enum { MAX_ARGUMENTS = 1024, RECORDED_OUTPUT = 1024 };

static int named_arguments;
static char *list[MAX_ARGUMENTS];
static word argument_count;

static void usage_error(const char *what) { klee_report_error(__FILE__, __LINE__, what, "user.err"); }

static void append(char *argument) {
  if (argument_count == MAX_ARGUMENTS - 1) usage_error("too many arguments");
  list[argument_count++] = argument;
}

static void append_symbolic(word length) {
  char name[] = "arg00";
  if (named_arguments == 100) usage_error("more than 100 symbolic arguments");
  name[3] = (char)('0' + named_arguments / 10);
  name[4] = (char)('0' + named_arguments % 10);
  named_arguments++;
  char *argument = __partita_stack_object((size_t)length + 1);
  klee_make_symbolic(argument, (size_t)length + 1, name);
  argument[length] = 0;
  append(argument);
}

static void make_arguments(word count, char **texts) {
  for (word i = 0; i < count; i++) {
    struct symbolic_argument argument;
    switch (__partita_symbolic_argument(i, &argument)) {
    case ONE_ARGUMENT:
      append_symbolic(argument.bytes);
      break;
    case SEVERAL_ARGUMENTS: {
      int number = (int)argument.min;
      /* A fixed number of arguments has no object. */
      if (argument.min < argument.max) number = klee_range(number, (int)argument.max + 1, "n_args");
      for (int n = 0; n < number; n++) append_symbolic(argument.bytes);
      break;
    }
    default:
      append(texts[i]);
    }
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
  strcat(text, "_stat");
  struct stat *s = malloc(sizeof *s);
  klee_make_symbolic(s, sizeof *s, text);
  klee_assume((s->st_mode & ~0777u) == S_IFREG);
  klee_assume((uint64_t)s->st_mtime < (uint64_t)1 << 32);
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

/* Objects for the output of the path: the executor replaces the bytes of the first one when it writes the test. */
static void record_output(void) {
  static char bytes[RECORDED_OUTPUT];
  static struct stat status;
  klee_make_symbolic(bytes, sizeof bytes, "stdout");
  klee_make_symbolic(&status, sizeof status, "stdout_stat");
  klee_assume(status.st_mode == (S_IFREG | 0644));
}

static struct inode *given_input(void) {
  struct inode *inode = __partita_inode(S_IFREG | 0644);
  size_t size = (size_t)__partita_stdin(0, 0);
  __partita_grow(inode, size);
  if (size) __partita_stdin(inode->data, size);
  inode->status->st_size = (off_t)size;
  return inode;
}

static void make_files(void) {
  word files = __partita_setting("sym-files"), size = __partita_setting("sym-file-size");
  word input = __partita_setting("sym-stdin");
  char name[] = "A_data";
  for (word i = 0; i < files; i++, name[0]++)
    __partita_add(__partita_cwd, name, 1, symbolic_file(name, (size_t)size));
  open_at(input ? symbolic_file("stdin", (size_t)input) : given_input(), O_RDONLY);
  open_at(output(DEV_STDOUT), O_WRONLY);
  open_at(output(DEV_STDERR), O_WRONLY);
  __partita_allow_failures(__partita_setting("max-fail"));
  if (__partita_setting("sym-stdout")) record_output();
}

/* Finds the root and the current folder of the machine. */
static void find_folders(void) {
  word fields[13];
  char path[PATH_LENGTH];
  struct lookup lookup;
  if (__partita_host_status("/", 1, fields) < 0) usage_error("the machine has no root folder");
  __partita_root = __partita_cwd = __partita_start = __partita_host_inode("/", fields);
  word length = __partita_host_link("/proc/self/cwd", path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  if (__partita_walk(AT_FDCWD, path, 1, &lookup) == 0) __partita_start = __partita_cwd = lookup.inode;
}

__attribute__((constructor(0))) static void start(int count, char **arguments, char **environment) {
  __partita_uid = __partita_setting("uid");
  __partita_gid = __partita_setting("gid");
  __partita_writes_host = (int)__partita_setting("write-host");
  find_folders();
  make_arguments(count, arguments);
  make_files();
  word variables = 0;
  while (environment[variables]) variables++;
  char **all = __partita_stack_object(sizeof *all * (size_t)(argument_count + variables + 2));
  memcpy(all, list, sizeof *all * (size_t)argument_count);
  all[argument_count] = 0;
  memcpy(all + argument_count + 1, environment, sizeof *all * (size_t)(variables + 1));
  __environ = all + argument_count + 1;
  __progname = __progname_full = all[0];
  for (char *p = all[0]; *p; p++)
    if (*p == '/') __progname = p + 1;
  __partita_arguments(argument_count, all);
}
