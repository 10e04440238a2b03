/* Runs before any other code: makes the arguments (including symbolic ones), the files, and descriptors 0, 1 and 2.
   Names, sizes and order of symbolic objects are those of KLEE 3, whose klee-replay reads them in this order. */
#include "kernel.h"
#include <unistd.h>

extern char **__environ, *__progname, *__progname_full;

extern word __partita_now(void);

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

/* A symbolic file that is named `A` if its bytes are `A_data`. */
static struct inode *varied_file(const char *bytes, size_t size) {
  struct inode *inode = symbolic_file(bytes, size);
  char *name = __partita_join("", bytes, strlen(bytes) == 5 ? 5 : 1);
  __partita_vary_file(inode, name);
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
    __partita_add(__partita_cwd, name, 1, varied_file(name, (size_t)size));
  open_at(input ? varied_file("stdin", (size_t)input) : given_input(), O_RDONLY);
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

/* A symbolic variable NAME: `env_NAME` has its value, `env_NAME_set` whether it exists. If not, its entry begins with `=`
   and no name matches it: the path forks when the program compares the name, and not before. */
static char *symbolic_variable(word index, char *name) {
  char object[NAME_LENGTH + 16];
  memset(name, 0, NAME_LENGTH + 1);
  word size = __partita_symbolic_variable(index, name, NAME_LENGTH);
  if (size < 0) return 0;
  size_t length = strlen(name), bytes = (size_t)size + 1;
  char *text = __partita_stack_object(length + 1 + bytes), *value = malloc(bytes), *is_set = malloc(1);
  strcpy(object, "env_");
  strcat(object, name);
  klee_make_symbolic(value, bytes, object);
  strcat(object, "_set");
  klee_make_symbolic(is_set, 1, object);
  klee_assume((unsigned char)*is_set <= 1);
  value[size] = 0;
  memcpy(text, name, length);
  text[0] = (char)('=' ^ ((name[0] ^ '=') & -*is_set));
  text[length] = '=';
  memcpy(text + length + 1, value, bytes);
  return text;
}

/* Adds an entry in place of those with the same name. Returns the new number of entries. */
static word set_variable(char **entries, word count, const char *name, char *text) {
  size_t length = strlen(name);
  word kept = 0;
  for (word i = 0; i < count; i++)
    if (strncmp(entries[i], name, length) || entries[i][length] != '=') entries[kept++] = entries[i];
  entries[kept++] = text;
  entries[kept] = 0;
  return kept;
}

__attribute__((constructor(0))) static void start(int count, char **arguments, char **environment) {
  __partita_uid = __partita_setting("uid");
  __partita_gid = __partita_setting("gid");
  __partita_writes_host = (int)__partita_setting("write-host");
  find_folders();
  make_arguments(count, arguments);
  if (named_arguments) { /* a symbolic name can be `.`, which is a new folder in a replay */
    struct stat *s = __partita_start->status;
    s->st_mode = S_IFDIR | 0755;
    s->st_atime = s->st_mtime = s->st_ctime = __partita_now();
  }
  make_files();
  word variables = 0, symbolic = 0;
  char name[NAME_LENGTH + 1];
  while (environment[variables]) variables++;
  while (__partita_symbolic_variable(symbolic, name, NAME_LENGTH) >= 0) symbolic++;
  char **all = __partita_stack_object(sizeof *all * (size_t)(argument_count + variables + symbolic + 2));
  memcpy(all, list, sizeof *all * (size_t)argument_count);
  all[argument_count] = 0;
  memcpy(all + argument_count + 1, environment, sizeof *all * (size_t)(variables + 1));
  __environ = all + argument_count + 1;
  for (word i = 0; i < symbolic; i++) {
    char *text = symbolic_variable(i, name);
    variables = set_variable(__environ, variables, name, text);
  }
  __partita_vary_locale(__environ);
  __progname = __progname_full = all[0];
  for (char *p = all[0]; *p; p++)
    if (*p == '/') __progname = p + 1;
  __partita_arguments(argument_count, all);
}
