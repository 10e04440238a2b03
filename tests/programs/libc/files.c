/* Streams and system calls on files that the program creates, with the kernel's error codes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>

static int caught;
static void handler(int signal) { caught = signal; }
#define TRY(call) (errno = 0, printf("%s: %ld %d\n", #call, (long)(call), errno))

int main(void) {
  char buffer[64];
  struct stat status;
  TRY(mkdir("made", 0755));
  TRY(mkdir("made", 0755));
  TRY(open("made/missing", O_RDONLY));
  TRY(open("made/none/x", O_CREAT | O_WRONLY, 0644));
  FILE *file = fopen("made/text", "w+");
  fprintf(file, "line %d\nline two\n", 1);
  fseek(file, 5, SEEK_SET);
  printf("%c ", getc(file));
  ungetc('U', file);
  printf("%c %ld\n", getc(file), ftell(file));
  rewind(file);
  while (fgets(buffer, sizeof buffer, file)) fputs(buffer, stdout);
  printf("%d %d\n", feof(file) != 0, ferror(file));
  fclose(file);
  char *line = NULL;
  size_t room = 0;
  file = fopen("made/text", "a");
  fputs("appended", file);
  fclose(file);
  file = fopen("made/text", "r");
  while (getline(&line, &room, file) > 0) printf("[%s]", line);
  printf("\n");
  fclose(file);
  stat("made/text", &status);
  printf("%o %ld %d %ld\n", status.st_mode, (long)status.st_size, S_ISREG(status.st_mode), (long)status.st_nlink);
  TRY(chmod("made/text", 0600));
  TRY(link("made/text", "made/hard"));
  TRY(symlink("text", "made/soft"));
  TRY(readlink("made/soft", buffer, sizeof buffer));
  TRY(lstat("made/soft", &status));
  printf("%d\n", S_ISLNK(status.st_mode));
  TRY(stat("made/soft", &status));
  printf("%o %ld\n", status.st_mode & 0777, (long)status.st_nlink);
  TRY(rename("made/hard", "made/other"));
  TRY(access("made/hard", F_OK));
  TRY(access("made/other", R_OK | W_OK));
  TRY(truncate("made/other", 4));
  TRY(rmdir("made"));
  TRY(unlink("made"));
  TRY(rmdir("made/text"));
  TRY(open("made/text/x", O_RDONLY));
  TRY(open("made", O_WRONLY));
  int fd = open("made/text", O_RDWR | O_CREAT | O_EXCL, 0644);
  printf("%d %d\n", fd, errno);
  fd = open("made/other", O_RDWR);
  int copy = dup(fd);
  TRY(read(fd, buffer, 2));
  TRY(lseek(copy, 0, SEEK_CUR));
  TRY(lseek(copy, -10, SEEK_CUR));
  TRY(pread(fd, buffer, 4, 1));
  TRY(write(fd, "XYZ", 3));
  TRY(ftruncate(fd, 10));
  TRY(lseek(fd, 0, SEEK_END));
  TRY(fcntl(fd, F_GETFL) & O_ACCMODE);
  TRY(close(copy));
  TRY(close(copy));
  TRY(isatty(fd));
  int ends[2];
  TRY(pipe(ends));
  TRY(write(ends[1], "through", 7));
  TRY(read(ends[0], buffer, 4));
  TRY(lseek(ends[0], 0, SEEK_SET));
  close(ends[1]);
  TRY(read(ends[0], buffer, 10));
  TRY(read(ends[0], buffer, 10));
  DIR *folder = opendir("made");
  int entries = 0;
  for (struct dirent *entry; (entry = readdir(folder));) entries += entry->d_name[0] != '.';
  closedir(folder);
  printf("%d entries\n", entries);
  TRY(execl("made/none", "x", NULL));
  TRY(execl("made", "x", NULL));
  TRY(execl("made/text", "x", NULL));
  TRY(chmod("made/text", 0700));
  TRY(execl("made/text", "x", NULL));
  int before = open(".", O_SEARCH), inside = open("made", O_SEARCH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  printf("%d %d\n", before >= 0, inside >= 0);
  TRY(open("made/text", O_SEARCH | O_DIRECTORY));
  TRY(fstat(inside, &status));
  printf("%o\n", status.st_mode);
  TRY(fchdir(inside));
  TRY(mkdir("deep", 0700));
  TRY(mkdir("deep/", 0700));
  TRY(read(inside, buffer, 1));
  TRY(fchdir(before));
  TRY(rmdir("made/deep/"));
  TRY(unlink("made/text"));
  TRY(unlink("made/soft"));
  TRY(unlink("made/other"));
  TRY(chdir("made"));
  char *here = getcwd(NULL, 0);
  printf("%s\n", strrchr(here, '/'));
  TRY(chdir(".."));
  TRY(rmdir("made/"));
  TRY(chdir("made"));
  char long_name[300];
  memset(long_name, 'n', 299);
  long_name[299] = 0;
  TRY(open(long_name, O_RDONLY));
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  printf("%d\n", caught == SIGUSR1);
  struct utsname machine;
  uname(&machine);
  printf("%s %s\n", machine.sysname, machine.machine);
  file = tmpfile();
  fputs("temporary", file);
  rewind(file);
  printf("%s\n", fgets(buffer, sizeof buffer, file));
  file = fmemopen(buffer, sizeof buffer, "r");
  printf("%d\n", getc(file) == 't');
  file = open_memstream(&line, &room);
  fprintf(file, "%d-%d", 1, 2);
  fclose(file);
  printf("%s %zu\n", line, room);
  TRY(write(-1, "x", 1));
  TRY(open("/dev/full", O_WRONLY) >= 0);
  return 7;
}
